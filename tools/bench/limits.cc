#include "tools/bench/limits.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/limits.h"
#include "tools/bench/scratch.h"

namespace headrace::bench {
namespace {

constexpr std::uint64_t kMaxMessages = 1'000'000'000;
constexpr std::uint32_t kMaxRoundTrips = 200'000;

}  // namespace

std::uint64_t default_messages(std::size_t size) {
  return std::clamp<std::uint64_t>(2'500'000'000 / (size + 256), 200, 2'000'000);
}

Result<LimitsOptions> checked(LimitsOptions options) {
  if (options.size < 1 || options.size > limits::kEventPayloadBytes) {
    return fail(Code::kInvalid, "size " + std::to_string(options.size) + ": give 1 to " +
                                    std::to_string(limits::kEventPayloadBytes) + " bytes");
  }
  if (options.messages == 0) options.messages = default_messages(options.size);
  if (options.messages < 2 || options.messages > kMaxMessages) {
    return fail(Code::kInvalid, "messages " + std::to_string(options.messages) + ": give 2 to " +
                                    std::to_string(kMaxMessages));
  }
  if (options.round_trips < 1 || options.round_trips > kMaxRoundTrips) {
    return fail(Code::kInvalid, "round_trips " + std::to_string(options.round_trips) +
                                    ": give 1 to " + std::to_string(kMaxRoundTrips));
  }
  if (options.disk_time < Millis{1})
    return fail(Code::kInvalid, "disk_time: give at least a millisecond");
  if (auto good = check_directory(options.directory); !good) return fail(good.error());
  return options;
}

Result<LimitsResult> measure_limits(const LimitsOptions& given, const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  LimitsResult result;
  Result<void> state;
  // Takes one figure, unless an earlier one failed.
  auto take = [&](auto& figure, auto measure) {
    if (!state) return;
    if (auto measured = measure()) {
      figure = *measured;
    } else {
      state = fail(measured.error());
    }
  };
  take(result.zmq_push_pull_per_s, [&] { return measure_push_pull(*options, progress); });
  take(result.zmq_pub_sub_8_per_s, [&] { return measure_pub_sub(*options, 8, progress); });
  take(result.zmq_rtt, [&] { return measure_round_trip(*options, progress); });
  take(result.leveldb_sync_1_per_s, [&] { return measure_leveldb(*options, 1, progress); });
  take(result.leveldb_sync_100_per_s, [&] { return measure_leveldb(*options, 100, progress); });
  take(result.leveldb_sync_1000_per_s, [&] { return measure_leveldb(*options, 1000, progress); });
  take(result.fdatasync_per_s, [&] { return measure_fdatasync(*options, progress); });
  if (!state) return fail(state.error());
  return result;
}

nlohmann::json to_json(const LimitsOptions& options, const LimitsResult& result) {
  return {{"size", options.size},
          {"messages", options.messages},
          {"round_trips", options.round_trips},
          {"disk_time_ms", options.disk_time.count()},
          {"directory", options.directory.string()},
          {"pin", options.pin},
          {"zmq_push_pull_per_s", result.zmq_push_pull_per_s},
          {"zmq_pub_sub_8_per_s", result.zmq_pub_sub_8_per_s},
          {"zmq_rtt_p50_us", result.zmq_rtt.p50_us},
          {"zmq_rtt_p99_us", result.zmq_rtt.p99_us},
          {"leveldb_sync_1_per_s", result.leveldb_sync_1_per_s},
          {"leveldb_sync_100_per_s", result.leveldb_sync_100_per_s},
          {"leveldb_sync_1000_per_s", result.leveldb_sync_1000_per_s},
          {"fdatasync_per_s", result.fdatasync_per_s}};
}

}  // namespace headrace::bench
