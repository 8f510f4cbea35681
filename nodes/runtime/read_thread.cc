#include "nodes/runtime/read_thread.h"

#include <utility>

#include "nodes/runtime/thread.h"

namespace headrace::runtime {

Result<void> ReadThread::start() {
  auto thread = start_thread("hr-read", [this] { run(); });
  if (!thread) return fail(thread.error());
  thread_ = std::move(*thread);
  return {};
}

ReadThread::~ReadThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ReadThread::submit(job::ReadTask task) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = pending_.empty();
    pending_.push_back(std::move(task));
  }
  if (first) wake_.notify_one();
}

void ReadThread::run() {
  for (;;) {
    std::vector<job::ReadTask> tasks;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return ending_ || !pending_.empty(); });
      if (ending_) return;
      tasks.swap(pending_);
    }
    read(tasks);
  }
}

void ReadThread::read(const std::vector<job::ReadTask>& tasks) {
  const auto snapshot = store_.snapshot();
  if (!snapshot) return failed_(snapshot.error());
  std::vector<job::Continuation> continuations;
  continuations.reserve(tasks.size());
  for (const auto& task : tasks) continuations.push_back(task(**snapshot));
  done_(std::move(continuations));
}

}  // namespace headrace::runtime
