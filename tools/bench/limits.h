// What the parts could do: raw libzmq, LevelDB and the disk, measured as Headrace itself is
// measured, so that the two can be put beside each other in one run. Each role is a process of its
// own; rates are counted at the receivers, from the first message to the last.
//
// Every function blocks until it has its figure, writes only below `directory`, binds only loopback
// ports that the kernel hands out, and leaves nothing behind. Call from a process that has no
// threads (see Crew).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "core/base/error.h"
#include "core/base/time.h"
#include "tools/bench/process.h"

namespace headrace::bench {

struct LimitsOptions {
  std::size_t size = 100;              // bytes of a message, 1 to 16 MiB
  std::uint64_t messages = 0;          // per measurement; 0: a few seconds' worth at this size
  std::uint32_t round_trips = 20'000;  // after a tenth as many that are not counted
  Millis disk_time{2000};              // for each figure of the disk
  std::filesystem::path directory{"/var/tmp"};  // a scratch folder on the disk to measure
  bool pin = true;                              // a CPU for each process, where there are two
};

struct RoundTrip {
  double p50_us = 0, p99_us = 0;
};

struct LimitsResult {
  double zmq_push_pull_per_s = 0;
  double zmq_pub_sub_8_per_s = 0;  // deliveries of all 8 together
  RoundTrip zmq_rtt;
  double leveldb_sync_1_per_s = 0;  // puts, in synced batches of this many
  double leveldb_sync_100_per_s = 0;
  double leveldb_sync_1000_per_s = 0;
  double fdatasync_per_s = 0;
};

// About the bytes that cross loopback in a few seconds; small messages are bound by their number
// instead.
std::uint64_t default_messages(std::size_t size);

// kInvalid says which option is out of range; messages = 0 is replaced by the number that will be
// sent.
Result<LimitsOptions> checked(LimitsOptions options);

// One frame a message, one I/O thread each, high-water marks of 1,000: the sender blocks, nothing
// is dropped.
Result<double> measure_push_pull(const LimitsOptions& options, const Progress& progress);
Result<double> measure_pub_sub(const LimitsOptions& options, unsigned subscribers,
                               const Progress& progress);
// DEALER to ROUTER and back, one at a time.
Result<RoundTrip> measure_round_trip(const LimitsOptions& options, const Progress& progress);
// Puts per second of 200-byte values under ascending keys, one fdatasync for each batch.
Result<double> measure_leveldb(const LimitsOptions& options, unsigned batch,
                               const Progress& progress);
// Appends of 4 KiB, each followed by fdatasync.
Result<double> measure_fdatasync(const LimitsOptions& options, const Progress& progress);

Result<LimitsResult> measure_limits(const LimitsOptions& options, const Progress& progress);
// Every option and every figure, under the names that `headrace bench limits --json` prints.
nlohmann::json to_json(const LimitsOptions& options, const LimitsResult& result);

}  // namespace headrace::bench
