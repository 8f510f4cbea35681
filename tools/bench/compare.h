// Headrace beside what the parts could do: both measured in turn, round after round, because the
// machine drifts; medians of the rounds, and their ratio.
//
// measure_compare blocks until it is over. Call from a process that has no threads (see Crew).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct CompareOptions {
  std::string what;         // events, fanout, latency or jobs
  unsigned rounds = 5;      // 1 to 100
  std::size_t size = 100;   // bytes of a payload
  std::uint64_t count = 0;  // of events, round trips or jobs in a round; 0: what each bench takes
  std::filesystem::path directory{"/var/tmp"};  // a scratch folder on the disk to measure
};

struct CompareRound {
  double headrace = 0, limit = 0;
};

struct CompareResult {
  double ratio = 0, headrace = 0, limit = 0;
  std::vector<CompareRound> rounds;
};

// kInvalid says which option is out of range.
Result<CompareOptions> checked(CompareOptions options);
Result<CompareResult> measure_compare(const CompareOptions& options, const Progress& progress);
nlohmann::json to_json(const CompareOptions& options, const CompareResult& result);

}  // namespace headrace::bench
