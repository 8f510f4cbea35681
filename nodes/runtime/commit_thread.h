// CommitThread: hr-commit, the one thread that writes to the store.
//
// It takes all batches that wait, joins them into one write, and reports how far it is. A write is
// synced if any batch in it asks for kDisk, so every batch up to `written` has reached its own
// level. What is written and not synced is synced with the next write that is, or alone after a
// second.
//
// Owned by Storage. submit() by the loop; `report` is called on hr-commit and must not wait. The
// first failed write is reported and is the end: nothing later is written, since the store is dead.
// The destructor writes what was submitted, synced, and then joins.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/peer/actions.h"
#include "core/store/store.h"
#include "nodes/runtime/clock.h"

namespace headrace::runtime {

struct CommitReport {
  CommitNumber written = 0;
  CommitNumber synced = 0;
  std::optional<Error> failed{};
};

class CommitThread final {
 public:
  using Report = std::function<void(CommitReport)>;

  static constexpr std::chrono::seconds kSyncWithin{1};  // how long kOs may stay unsynced
  static constexpr std::chrono::seconds kLookAgain{1};   // at a full disk

  CommitThread(Store& store, Report report) : store_(store), report_(std::move(report)) {}
  ~CommitThread();
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  Result<void> start();
  void submit(Commit commit);

 private:
  void run();
  void wait(std::unique_lock<std::mutex>& lock);
  void write(std::vector<Commit>& taken);
  void put(const WriteBatch& batch, CommitNumber number, bool sync);

  Store& store_;
  const Report report_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Commit> pending_;  // guarded by mutex_
  bool ending_ = false;          // guarded by mutex_

  // hr-commit's own.
  CommitReport done_;
  MonoTime sync_at_ = kNever;
};

}  // namespace headrace::runtime
