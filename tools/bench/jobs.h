// How fast durable jobs are added and run: an owner whose program adds them, and workers that run
// them, each a process of its own. With `client` the program that adds is a process of its own too,
// and reaches the owner as a client.
//
// All functions block until it is over, at most kCase a phase; they write only below `directory`
// and leave nothing there. Call from a process that has no threads (see Crew). Jobs that nobody
// ends within ten seconds of silence are lost, and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/time.h"
#include "core/job/job.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct JobsOptions {
  std::size_t size = 100;         // bytes of a payload, 8 to 16 MiB
  std::uint64_t count = 100'000;  // jobs of a phase
  unsigned workers = 2;           // 1 to 64
  unsigned parallel = 1;          // handlers at once in each worker
  Level level = Level::kDisk;     // at which an add is acknowledged
  std::uint32_t window = 4'000;   // adds under way at a time
  std::uint32_t starts = 1'000;   // jobs added one at a time, for the time to their start
  std::uint64_t standing = 0;     // unless 0: jobs that wait already while others are added and run
  Millis standing_time{10'000};   // for how long then
  bool client = false;            // the producer is a client, not the owner itself
  bool pin = false;               // a CPU for each process, where there are two
  std::filesystem::path directory{"/var/tmp"};  // a scratch folder on the disk to measure
};

struct JobsResult {
  // Acknowledged, from the first call to the last answer, with no consumer there.
  double adds_per_s = 0;
  // All having been added: from the first start to the last outcome at the owner.
  std::optional<double> runs_per_s;
  // Added and run at once, to the last outcome; with `standing`, as many as were both added and run
  // in that time, the adds never being more than kStandingAhead in front.
  double both_per_s = 0;
  std::optional<double> start_p50_us, start_p99_us;  // from the call of add to the handler
  double rss_mb = 0;                                 // of the owner, the most of all phases
  std::optional<double> rss_standing_mb;             // when the backlog stood, before any ran
  std::uint64_t lost = 0;                            // added, and without an outcome
  std::uint64_t repeated = 0;                        // runs of a job that had been run
};

inline constexpr std::uint64_t kStandingAhead = 10'000;

// kInvalid says which option is out of range.
Result<JobsOptions> checked(JobsOptions options);
// All phases; with `standing`, that one alone.
Result<JobsResult> measure_jobs(const JobsOptions& options, const Progress& progress);
// adds_per_s alone.
Result<double> measure_adds(const JobsOptions& options, const Progress& progress);
nlohmann::json to_json(const JobsOptions& options, const JobsResult& result);

}  // namespace headrace::bench
