#include "tools/bench/limits.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headrace;
using namespace headrace::bench;

namespace {

// Small enough for a test: the figures mean nothing, the way to them is the same.
LimitsOptions quick() {
  LimitsOptions options;
  options.messages = 800;
  options.round_trips = 50;
  options.disk_time = Millis{20};
  options.directory = std::filesystem::temp_directory_path();
  return options;
}

std::size_t scratch_folders(const std::filesystem::path& directory) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    found += entry.path().filename().string().starts_with("headrace-bench-");
  }
  return found;
}

}  // namespace

TEST_CASE("the limits come out as one JSON object with every option and a figure for each part") {
  std::size_t before = scratch_folders(quick().directory);
  Result<LimitsResult> result = measure_limits(quick(), {});
  INFO((result ? std::string() : result.error().message));
  REQUIRE(result);
  nlohmann::json json = to_json(quick(), *result);
  for (const char* figure : {"zmq_push_pull_per_s", "zmq_pub_sub_8_per_s", "zmq_rtt_p50_us",
                             "zmq_rtt_p99_us", "leveldb_sync_1_per_s", "leveldb_sync_100_per_s",
                             "leveldb_sync_1000_per_s", "fdatasync_per_s"}) {
    INFO(figure);
    CHECK(json.at(figure).get<double>() > 0);
  }
  CHECK(json.at("size") == 100);
  CHECK(json.at("messages") == 800);
  CHECK(json.at("disk_time_ms") == 20);
  CHECK(scratch_folders(quick().directory) == before);
}

TEST_CASE("an option out of range is refused with its value, and nothing is started") {
  auto refusal = [](LimitsOptions options) {
    auto result = measure_limits(options, {});
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Code::kInvalid);
    return result.error().message;
  };
  LimitsOptions options = quick();
  options.size = 0;
  CHECK(refusal(options).starts_with("size 0:"));
  options.size = (16 << 20) + 1;
  CHECK(refusal(options).starts_with("size 16777217:"));
  options = quick();
  options.round_trips = 200'001;
  CHECK(refusal(options).starts_with("round_trips 200001:"));
  options = quick();
  options.directory = "/does/not/exist";
  CHECK(refusal(options).starts_with("directory /does/not/exist:"));
}

TEST_CASE("without a number of messages one that fits their size is chosen") {
  LimitsOptions options = quick();
  options.messages = 0;
  CHECK(checked(options)->messages == 2'000'000);
  options.size = 65'536;
  CHECK(checked(options)->messages == 37'998);  // 2.5 GB / (65,536 + 256)
}
