// A job as its owner holds it, in memory and on disk. docs/STORE.md lists the fields.
//
// The row under keys::job holds everything but the current dispatch; while the job is ACTIVE, a row under
// keys::active holds that. So a dispatch writes one small row, and what a job was before it stays readable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/job/job.h"
#include "core/wire/job.h"

namespace headrace::job {

// Payloads up to this stay in the row of their job and in memory with it; larger ones have a row of their own.
inline constexpr std::size_t kPayloadInRow = 4096;

// The dispatch of an ACTIVE job.
struct Dispatch {
  wire::Token token;
  NodeId consumer;
  Incarnation consumer_incarnation = 0;
  std::uint32_t consumer_number = 0;  // the handler at that node
  std::uint32_t deliveries = 1;       // of the job, this one included
  WallTime started{};
};

struct Job {
  std::uint64_t number = 0;
  JobId id;
  bool foreign_id = false;            // made by a caller: has a row under keys::job_id
  std::uint32_t queue = 1;
  std::uint32_t topic = 0;
  std::uint8_t priority = 4;
  Level level = Level::kDisk;
  std::uint32_t attempts = 0;         // that failed
  std::uint32_t deliveries = 0;       // before the current dispatch
  std::uint32_t max_attempts = 10;
  WallTime added{};
  std::optional<WallTime> due;        // waits until then
  Bytes params;
  Bytes payload;                      // empty in memory if it lies apart
  std::uint64_t payload_bytes = 0;
  std::vector<std::string> errors;
  wire::Token answered;               // of the last completion that was accepted
  // When it has ended:
  JobState state = JobState::kQueued; // kQueued stands for DELAYED too: `due` tells
  std::optional<NodeId> consumer;     // who ran it last
  std::optional<WallTime> started;
  std::optional<WallTime> finished;
  Bytes result;
  std::string error;

  // In memory only.
  std::uint64_t ready = 0;            // its ready number while it is in a queue's head
  bool unwritten = false;             // added in this turn, its rows not yet in the batch

  bool stored() const { return level != Level::kMemory; }
  bool payload_apart() const { return stored() && payload_bytes > kPayloadInRow; }
  // While it waits: a payload that lies apart does not stay.
  std::size_t memory() const {
    return sizeof(Job) + params.size() + (payload_apart() ? 0 : payload.size()) + 64;
  }
};
using JobPtr = std::unique_ptr<Job>;

void encode(Bytes& out, const Job& job);
Result<Job> decode_job(std::uint64_t number, BytesView body);
void encode(Bytes& out, const Dispatch& dispatch);
Result<Dispatch> decode_dispatch(BytesView body);

inline constexpr std::uint8_t kRecordVersion = 1;

// Seconds before attempt `failed` + 1: 1 s doubling to 10 min, a quarter either way by `unit` in [0, 1).
Millis backoff(unsigned failed, double unit);

}  // namespace headrace::job
