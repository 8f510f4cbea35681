// What a node with a store, one peer and nothing to do takes of the machine.
//
// measure_idle blocks for the time asked for and a few seconds to start. Call from a process that
// has no threads (see Crew).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "core/base/error.h"
#include "core/base/time.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct IdleOptions {
  Millis time{60'000};                          // 100 ms to an hour
  std::filesystem::path directory{"/var/tmp"};  // a scratch folder for the store
};

struct IdleResult {
  double rss_mb = 0;
  double cpu_percent = 0;  // of one CPU
};

// kInvalid says which option is out of range.
Result<IdleOptions> checked(IdleOptions options);
Result<IdleResult> measure_idle(const IdleOptions& options, const Progress& progress);
nlohmann::json to_json(const IdleOptions& options, const IdleResult& result);

}  // namespace headrace::bench
