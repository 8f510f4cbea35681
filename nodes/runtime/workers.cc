#include "nodes/runtime/workers.h"

#include <iterator>
#include <string>
#include <utility>

#include "nodes/runtime/thread.h"

namespace headrace::runtime {

namespace {

thread_local const Workers* employer = nullptr;

}  // namespace

bool Workers::on_worker() const { return employer == this; }

Result<Workers::Reservation> Workers::reserve(std::size_t threads) {
  const std::lock_guard lock(mutex_);
  *reserved_ += threads;
  const Reservation reservation(
      this, [reserved = reserved_, threads](const void*) { *reserved -= threads; });
  while (!closed_ && threads_.size() < *reserved_) {
    auto thread = start_thread("hr-work-" + std::to_string(next_name_), [this] { run(); });
    if (!thread) return fail(thread.error());
    threads_.push_back(std::move(*thread));
    ++next_name_;
  }
  return reservation;
}

void Workers::push(std::vector<Task>& tasks) {
  if (tasks.empty()) return;
  std::size_t idle = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) std::move(tasks.begin(), tasks.end(), std::back_inserter(tasks_));
    idle = idle_;
  }
  wake(tasks.size(), idle);
  tasks.clear();
}

void Workers::push(Task task) {
  std::size_t idle = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) tasks_.push_back(std::move(task));
    idle = idle_;
  }
  wake(1, idle);
}

void Workers::wake(std::size_t tasks, std::size_t idle) {
  if (idle <= tasks) {
    if (idle > 0) work_.notify_all();
    return;
  }
  for (; tasks > 0; --tasks) work_.notify_one();
}

void Workers::run() {
  employer = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (tasks_.empty() && !closed_) {
      ++idle_;
      work_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
      --idle_;
    }
    if (closed_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds ends without the lock too
    lock.lock();
  }
}

void Workers::close() {
  std::vector<std::thread> threads;
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    threads.swap(threads_);
    dropped.swap(tasks_);
  }
  work_.notify_all();
  for (auto& thread : threads) thread.join();
}

}  // namespace headrace::runtime
