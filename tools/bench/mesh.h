// What a mesh of nodes costs when nobody says anything: each node a process of its own, all on
// loopback, joined through the first.
//
// measure_mesh blocks until the mesh stands and for the time asked for. Call from a process that has
// no threads (see Crew).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "core/base/error.h"
#include "core/base/time.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct MeshOptions {
  std::size_t nodes = 10;  // 2 to 500
  Millis time{10'000};     // 100 ms to an hour, when it stands
};

struct MeshResult {
  double formed_ms = 0;  // from the first start until each node knows all
  // Of one node while it is idle: the mean of all, and the most of any.
  struct Figure {
    double mean = 0;
    double most = 0;
  };
  Figure fds;
  Figure rss_mb;
  Figure idle_bytes_per_s;       // frames sent, without the heads of ZeroMQ and TCP
  Figure idle_messages_per_s;    // frames sent
  Figure cpu_percent;            // of one CPU
  std::size_t false_deaths = 0;  // members that some node did not see as alive at the end
};

// kInvalid says which option is out of range.
Result<MeshOptions> checked(MeshOptions options);
Result<MeshResult> measure_mesh(const MeshOptions& options, const Progress& progress);
nlohmann::json to_json(const MeshOptions& options, const MeshResult& result);

}  // namespace headrace::bench
