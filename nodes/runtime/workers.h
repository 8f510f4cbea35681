// Workers: hr-work-N, the threads that run user code. No lock is held while a task runs.
//
// Owned by the runtime. push() and reserve() from any thread; close() once, not from a task. Tasks
// start in order; they must not throw. A batch costs one lock, and only threads that sleep are
// woken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace headrace::runtime {

class Workers final {
 public:
  using Task = std::function<void()>;

  // Threads are named from hr-work-`first` on.
  explicit Workers(unsigned first) : next_name_(first) {}
  ~Workers() { close(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // A number of threads for as long as somebody has it. May outlive the Workers.
  using Reservation = std::shared_ptr<const void>;
  // Starts threads where those there are do not suffice for all that is reserved; none ends before
  // close(). kFull if the system gives no more.
  Result<Reservation> reserve(std::size_t threads);
  // Takes the tasks out of `tasks`. Dropped after close().
  void push(std::vector<Task>& tasks);
  void push(Task task);
  // Drops what has not started and waits for what runs.
  void close();

  // Whether the calling thread is one of these.
  bool on_worker() const;

 private:
  void run();
  void wake(std::size_t tasks, std::size_t idle);

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Task> tasks_;  // all guarded by mutex_
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  const std::shared_ptr<std::atomic<std::size_t>> reserved_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  unsigned next_name_;
  bool closed_ = false;
};

}  // namespace headrace::runtime
