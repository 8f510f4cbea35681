// How long an event there and one back take: two nodes, each a process of its own, one event under
// way at a time; from publish() to the callback that the answer runs.
//
// measure_latency blocks until it is over, at most kCase. Call from a process that has no threads
// (see Crew). Fails with kTimeout if an answer does not come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "core/base/error.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct LatencyOptions {
  std::size_t size = 100;        // bytes of a payload, 1 to 16 MiB
  std::uint32_t count = 20'000;  // round trips, after a tenth as many that are not counted
  bool pin = false;              // a CPU for each process, where there are two
};

struct LatencyResult {
  double p50_us = 0, p99_us = 0, p999_us = 0;
};

// kInvalid says which option is out of range.
Result<LatencyOptions> checked(LatencyOptions options);
Result<LatencyResult> measure_latency(const LatencyOptions& options, const Progress& progress);
nlohmann::json to_json(const LatencyOptions& options, const LatencyResult& result);

}  // namespace headrace::bench
