// What the job machines ask of the peer around them. An interface without fields, implemented by core/peer and
// by tests; every call is made on the thread that runs the machine, and none of them calls back into it.
//
// The one output rule: whatever is released "after commit" leaves when this turn's batch has reached the level.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/job/job.h"
#include "core/job/record.h"
#include "core/store/batch.h"
#include "core/store/store.h"
#include "core/wire/frame.h"

namespace headrace::job {

// What an action waits for: nothing, or this turn's batch at a level.
enum class After : std::uint8_t { kNothing = 0, kMemory = 1, kOs = 2, kDisk = 3 };
inline After after(Level level) {
  return level == Level::kDisk ? After::kDisk : level == Level::kOs ? After::kOs : After::kMemory;
}


// The time of an input, by both clocks.
struct Now {
  MonoTime mono{};
  WallTime wall{};
};

// Runs on the read thread once the batches of earlier turns and of this one have reached their levels, against a
// snapshot that holds them; what it returns then runs on the machine's thread, as an input.
using Continuation = std::function<void(const Now& now)>;
using ReadTask = std::function<Continuation(const Snapshot& snapshot)>;

// Names a caller's request; the peer knows who it is.
using Ticket = std::uint64_t;

class Host {
 public:
  virtual ~Host() = default;

  // This turn's batch; asking for it makes the turn's commit reach at least `level`.
  virtual WriteBatch& batch(Level level) = 0;
  virtual void send(const NodeId& to, wire::Lane lane, Bytes message, After after) = 0;
  virtual void read(ReadTask task) = 0;
  virtual std::uint64_t next_blob() = 0;  // numbers of large payloads sent
  virtual void note(std::string text) = 0;

  // The answer to an add, to leave when this turn's batch has reached `level`. An error leaves at once.
  virtual void added(Ticket ticket, Result<std::vector<JobId>> ids, Level level) = 0;
  // Once for each job, when it has ended; to be told when this turn's batch has reached its level.
  virtual void ended(const Job& job) = 0;
};

}  // namespace headrace::job
