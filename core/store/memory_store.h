// MemoryStore: a Store without a disk, for the simulator and for tests. It loses what a disk may
// lose, on demand and by a seed, and fails when told to.
//
// Owner: whoever owns the pretended machine; it outlives the pretended process, whose end is
// reopen() or crash(). One thread. Semantics as in store.h, the dead handle included.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/store/store.h"

namespace headrace {

class MemoryStore final : public Store {
 public:
  MemoryStore() = default;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;
  ~MemoryStore() override;

  Result<void> write(const WriteBatch& batch, bool sync) override;
  Result<std::unique_ptr<Snapshot>> snapshot() override;
  Result<StoreStats> stats() override;
  bool room() const override { return room_; }

  // The process ended and starts again: everything written is there. Ends a dead handle.
  void reopen();
  // The power went: of the batches since the last synced one, a random number of the first survive;
  // a batch whose write failed counts among them. Ends a dead handle.
  void crash(Random& random);

  void fail_next_write() { fail_next_ = true; }
  void set_room(bool room) { room_ = room; }
  std::size_t unsynced() const { return undo_.size(); }  // batches that a crash may lose

 private:
  friend class MemorySnapshot;
  friend class MemoryCursor;

  using Moment = std::uint64_t;  // batches applied so far
  struct Version {
    Moment from = 0;
    std::optional<Bytes> value;  // nullopt: erased
  };
  // Newest last. More than one only while a snapshot may want the older ones.
  using Rows = std::map<Bytes, std::vector<Version>, std::less<>>;
  using Undo = std::vector<std::pair<Bytes, std::optional<Bytes>>>;  // what stood there before

  void apply(BytesView key, std::optional<BytesView> value, Undo& undo);
  void set(Rows::iterator row, std::optional<Bytes> value);
  void release(Moment moment);
  void settle(const Bytes& key);

  Rows rows_;
  Moment now_ = 0;
  std::vector<Undo> undo_;        // one for each unsynced batch, oldest first
  std::multiset<Moment> open_;    // snapshots
  std::vector<Bytes> unsettled_;  // rows with versions to drop when no snapshot is left
  std::uint64_t bytes_ = 0;
  bool room_ = true;
  bool fail_next_ = false;
  bool dead_ = false;
};

}  // namespace headrace
