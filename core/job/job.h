// What a job is, to those who add one and those who look at one.
//
// A job lives in the store of one node, its owner, which alone changes it. Consumers get copies to run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/value/params.h"
#include "core/value/value.h"

namespace headrace {

// Numbers are stored and sent: append only.
enum class JobState : std::uint8_t {
  kQueued = 1,     // waits for a consumer with room
  kDelayed = 2,    // waits for its time: not-before, or the pause before a retry
  kActive = 3,     // given to a consumer
  kSucceeded = 4,  // the handler returned a result
  kStopped = 5,
  kGivenUp = 6,    // failed as often as it may
  kError = 7,      // can never succeed: the handler said so, or the job is unreadable
  kDropped = 8,
  kExpired = 9,
};
inline constexpr JobState kLastJobState = JobState::kExpired;

constexpr bool is_terminal(JobState state) { return state >= JobState::kSucceeded; }
std::string_view to_string(JobState state);  // "QUEUED", ...
Result<JobState> parse_job_state(std::string_view text);

// How safe a job is when its add is acknowledged.
enum class Level : std::uint8_t {
  kDisk = 0,    // on disk: survives a power cut
  kOs = 1,      // written, not synced: survives the end of the process
  kMemory = 2,  // never on disk: gone when its owner ends
};
std::string_view to_string(Level level);  // "disk", "os", "memory"
Result<Level> parse_level(std::string_view text);

struct JobSpec {
  std::string topic{};
  ParamSet params{};
  Bytes payload{};                        // at most limits::kJobPayloadBytes
  int priority = 4;                       // 0 to 9, 9 first
  std::optional<WallTime> not_before{};   // not dispatched earlier, by the owner's clock
  unsigned max_attempts = 10;             // runs that may fail, 1 to limits::kAttempts
  Level level = Level::kDisk;
  std::optional<JobId> id{};              // made by the caller: adding it again is the same job
};

struct JobInfo {
  JobId id{};
  std::string topic;
  std::string queue;
  JobState state = JobState::kQueued;
  Level level = Level::kDisk;
  int priority = 4;
  unsigned attempt = 0;                   // runs that have failed, and the one that runs
  unsigned max_attempts = 10;
  unsigned deliveries = 0;                // dispatches, those handed back unrun not counted
  NodeId owner{};
  std::optional<NodeId> consumer{};       // who runs it, or ran it last
  WallTime added{};
  std::optional<WallTime> not_before{};   // while it waits for its time
  std::optional<WallTime> started{};      // of the last dispatch
  std::optional<WallTime> finished{};
  std::optional<Value> result{};          // of a job that succeeded
  std::string error;                      // of the last attempt that failed, or why it was given up
  std::vector<std::string> errors;        // of the newest attempts, oldest first
};

struct JobFilter {
  std::optional<JobState> state{};
  std::string topic{};                    // a topic or a pattern; empty: any
  std::size_t limit = 100;                // at most limits::kFindLimit
};

// What a run ended in.
struct JobEnd {
  enum class Kind : std::uint8_t { kOk = 0, kFail = 1, kCancel = 2 };
  Kind kind = Kind::kOk;
  Bytes result;                           // an encoded Value; empty: nil
  std::string error;
  std::optional<Millis> retry_after;      // kFail: instead of the backoff
};

}  // namespace headrace
