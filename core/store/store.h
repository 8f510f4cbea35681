// Store: an ordered map of bytes on a disk, written in atomic batches and read through snapshots.
//
// Owner: the node (or the simulator), which makes it and ends it after every Snapshot of it.
// Threads: write() by one thread, the commit thread; snapshot() and stats() by any; room() by any,
// the loop
//   included. A Snapshot and its Cursors belong to the thread that asked for them, the read thread.
// Blocking: everything but room() may wait for the disk.
// Failure: after ANY failed write the handle is dead: it writes no more, opens no more snapshots
// and gives
//   the first reason (kStore) each time. What the failed write left on disk is unknown. The way on
//   is to end the Store, open it anew and rebuild from what is there, as after a crash.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/store/batch.h"

namespace headrace {

// Walks keys upwards, bytewise. Starts invalid: seek first. Seek to where you were, never to the
// beginning of a space whose head is deleted again and again: LevelDB would step over every deleted
// row. Must end before its Snapshot.
class Cursor {
 public:
  virtual ~Cursor() = default;

  virtual void seek(BytesView key) = 0;  // to the first key that is not less
  virtual bool valid() const = 0;        // false at the end, and after a failure: see status()
  virtual void next() = 0;               // needs valid()
  virtual BytesView key() const = 0;     // needs valid(); ends with the next move
  virtual BytesView value() const = 0;
  virtual Result<void> status()
      const = 0;  // kStore if the walk ended because something was unreadable
};

// The store as it was at one moment, whatever is written meanwhile.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  virtual Result<std::optional<Bytes>> get(BytesView key) const = 0;  // nullopt: no such key
  virtual std::unique_ptr<Cursor> cursor() const = 0;
};

struct StoreStats {
  std::uint64_t bytes = 0;       // on disk, about
  std::uint64_t free_bytes = 0;  // left on the file system for us
  bool room = true;
};

class Store {
 public:
  virtual ~Store() = default;

  // All of `batch`, or none. `sync`: returns when it, and every batch before it, survives a power
  // loss; otherwise it survives the end of the process only.
  virtual Result<void> write(const WriteBatch& batch, bool sync) = 0;

  // Sees every write that returned before the call.
  virtual Result<std::unique_ptr<Snapshot>> snapshot() = 0;

  // Looks at the disk again, for room() too. Ask each second while there is no room.
  virtual Result<StoreStats> stats() = 0;

  // Whether new work may be taken: false below the reserve of free space. Completions and deletes
  // go on. As of the last write() or stats(); never waits.
  virtual bool room() const = 0;
};

}  // namespace headrace
