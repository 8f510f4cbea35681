#include "tools/bench/compare.h"

#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/utf8.h"
#include "tools/bench/events.h"
#include "tools/bench/jobs.h"
#include "tools/bench/latency.h"
#include "tools/bench/limits.h"
#include "tools/bench/scratch.h"
#include "tools/bench/stats.h"

namespace headrace::bench {
namespace {

constexpr unsigned kMaxRounds = 100;
constexpr unsigned kFanOut = 8;
constexpr unsigned kBatch = 1000;

using Figure = std::function<Result<double>(const CompareOptions&, const Progress&)>;

struct Sides {
  std::string_view what, headrace_figure, limit_figure;
  Figure headrace, limit;
};

Result<double> events_of(const CompareOptions& options, unsigned subscribers,
                         const Progress& progress) {
  EventsOptions events;
  events.size = options.size;
  events.count = options.count;
  events.subscribers = subscribers;
  events.pin = true;
  auto result = measure_events(events, progress);
  if (!result) return fail(result.error());
  return result->delivered_per_s;
}

LimitsOptions limits_of(const CompareOptions& options) {
  LimitsOptions limits;
  limits.size = options.size;
  limits.messages = options.count;
  limits.directory = options.directory;
  return limits;
}

Result<double> latency_of(const CompareOptions& options, const Progress& progress) {
  LatencyOptions latency;
  latency.size = options.size;
  if (options.count > 0) latency.count = static_cast<std::uint32_t>(options.count);
  latency.pin = true;
  auto result = measure_latency(latency, progress);
  if (!result) return fail(result.error());
  return result->p50_us;
}

Result<double> round_trip_of(const CompareOptions& options, const Progress& progress) {
  auto limits = limits_of(options);
  limits.messages = 0;
  if (options.count > 0) limits.round_trips = static_cast<std::uint32_t>(options.count);
  auto result = measure_round_trip(limits, progress);
  if (!result) return fail(result.error());
  return result->p50_us;
}

Result<double> adds_of(const CompareOptions& options, const Progress& progress) {
  JobsOptions jobs;
  jobs.size = options.size;
  if (options.count > 0) jobs.count = options.count;
  jobs.directory = options.directory;
  return measure_adds(jobs, progress);
}

// The puts are of 200 bytes and for a time, whatever the size and count of jobs.
Result<double> puts_of(const CompareOptions& options, const Progress& progress) {
  LimitsOptions limits;
  limits.directory = options.directory;
  return measure_leveldb(limits, kBatch, progress);
}

const std::vector<Sides>& all_sides() {
  static const std::vector<Sides> kAll{
      {"events", "delivered_per_s", "zmq_push_pull_per_s",
       [](const auto& options, const auto& progress) { return events_of(options, 1, progress); },
       [](const auto& options, const auto& progress) {
         return measure_push_pull(limits_of(options), progress);
       }},
      {"fanout", "delivered_per_s", "zmq_pub_sub_8_per_s",
       [](const auto& options, const auto& progress) {
         return events_of(options, kFanOut, progress);
       },
       // Its messages are told for all subscribers together.
       [](const auto& options, const auto& progress) {
         auto limits = limits_of(options);
         limits.messages *= kFanOut;
         return measure_pub_sub(limits, kFanOut, progress);
       }},
      {"latency", "p50_us", "zmq_rtt_p50_us", latency_of, round_trip_of},
      {"jobs", "adds_per_s", "leveldb_sync_1000_per_s", adds_of, puts_of},
  };
  return kAll;
}

const Sides* find_sides(std::string_view what) {
  for (const auto& sides : all_sides()) {
    if (sides.what == what) return &sides;
  }
  return nullptr;
}

}  // namespace

Result<CompareOptions> checked(CompareOptions options) {
  if (find_sides(options.what) == nullptr) {
    return fail(Code::kInvalid,
                "cannot compare " + shown(options.what) + ": give events, fanout, latency or jobs");
  }
  if (options.rounds < 1 || options.rounds > kMaxRounds) {
    return fail(Code::kInvalid, "rounds " + std::to_string(options.rounds) + ": give 1 to 100");
  }
  if (auto good = check_directory(options.directory); !good) return fail(good.error());
  return options;
}

Result<CompareResult> measure_compare(const CompareOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  const auto* sides = find_sides(options->what);
  CompareResult result;
  std::vector<double> headrace, limit;
  const double steps = 2.0 * options->rounds;
  for (unsigned round = 0; round < options->rounds; ++round) {
    auto side = [&](std::string_view who, unsigned step) -> Progress {
      if (!progress) return {};
      return [&, who, step](std::string_view, double done) {
        progress(std::string(who) + ", round " + std::to_string(round + 1),
                 (2.0 * round + step + done) / steps);
      };
    };
    auto ours = sides->headrace(*options, side("Headrace", 0));
    if (!ours) return fail(ours.error());
    auto theirs = sides->limit(*options, side("limit", 1));
    if (!theirs) return fail(theirs.error());
    headrace.push_back(*ours);
    limit.push_back(*theirs);
    result.rounds.push_back({*ours, *theirs});
  }
  result.headrace = median(headrace);
  result.limit = median(limit);
  result.ratio = result.headrace / result.limit;
  return result;
}

nlohmann::json to_json(const CompareOptions& options, const CompareResult& result) {
  nlohmann::json json{{"what", options.what},
                      {"rounds", options.rounds},
                      {"size", options.size},
                      {"count", options.count},
                      {"directory", options.directory.string()},
                      {"ratio", result.ratio},
                      {"headrace", result.headrace},
                      {"limit", result.limit},
                      {"every_round", nlohmann::json::array()}};
  if (const auto* sides = find_sides(options.what)) {
    json["headrace_figure"] = sides->headrace_figure;
    json["limit_figure"] = sides->limit_figure;
  }
  for (const auto& round : result.rounds) {
    json["every_round"].push_back({{"headrace", round.headrace}, {"limit", round.limit}});
  }
  return json;
}

}  // namespace headrace::bench
