// ReadThread: hr-read, which reads from the store what is not in memory.
//
// Owned by Storage. submit() by the loop, once the commits that the read must see are through;
// tasks run in order, those that wait together against one snapshot. `done` is called on hr-read
// with what they returned, and must not wait. A store that gives no snapshot is reported by
// `failed`, and its tasks are dropped. The destructor drops what has not begun and joins.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/job/host.h"
#include "core/store/store.h"

namespace headrace::runtime {

class ReadThread final {
 public:
  using Done = std::function<void(std::vector<job::Continuation>)>;
  using Failed = std::function<void(Error)>;

  ReadThread(Store& store, Done done, Failed failed)
      : store_(store), done_(std::move(done)), failed_(std::move(failed)) {}
  ~ReadThread();
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;

  Result<void> start();
  void submit(job::ReadTask task);

 private:
  void run();
  void read(const std::vector<job::ReadTask>& tasks);

  Store& store_;
  const Done done_;
  const Failed failed_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<job::ReadTask> pending_;  // guarded by mutex_
  bool ending_ = false;                 // guarded by mutex_
};

}  // namespace headrace::runtime
