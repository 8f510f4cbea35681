// How many events a second get from one node to others: a publisher and its subscribers, each a
// process of its own, counted at the receivers from the first to the last.
//
// measure_events blocks until all is over, at most kCase. Call from a process that has no threads
// (see Crew). A subscriber to which nothing comes for two seconds after the last publish stops
// waiting: what it lacks is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "core/base/error.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct EventsOptions {
  std::size_t size = 100;   // bytes of a payload, 1 to 16 MiB
  std::uint64_t count = 0;  // published; 0: a few seconds' worth at this size
  unsigned subscribers = 1;
  bool pin = false;  // a CPU for each process, where there are two
};

struct EventsResult {
  double delivered_per_s = 0;          // of all subscribers together
  std::uint64_t dropped = 0;           // copies that publish() reported as not sent
  std::uint64_t lost = 0;              // copies that did not arrive, for whatever reason
  std::vector<double> per_subscriber;  // deliveries per second
};

// kInvalid says which option is out of range; a count of 0 is replaced.
Result<EventsOptions> checked(EventsOptions options);
Result<EventsResult> measure_events(const EventsOptions& options, const Progress& progress);
nlohmann::json to_json(const EventsOptions& options, const EventsResult& result);

}  // namespace headrace::bench
