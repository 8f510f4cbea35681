#include "nodes/runtime/done_queue.h"

#include <exception>
#include <iterator>
#include <utility>

namespace headrace::runtime {

void DoneQueue::push(std::vector<Done>& done) {
  if (done.empty()) return;
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    std::move(done.begin(), done.end(), std::back_inserter(waiting_));
    start = !std::exchange(running_, true);
  }
  done.clear();
  if (start) workers_.push([this] { run(); });
}

bool DoneQueue::idle() const {
  const std::lock_guard lock(mutex_);
  return !running_;
}

// One batch; then it is another task's turn.
void DoneQueue::run() {
  std::vector<Done> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(waiting_);
  }
  std::size_t bytes = 0;
  for (auto& done : taken) {
    call(done);
    bytes += done.bytes;
  }
  places_.give_back(taken.size(), bytes);
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    more = !waiting_.empty();
    running_ = more;
    if (!more) ended_.notify_all();
  }
  if (more) workers_.push([this] { run(); });
}

void DoneQueue::wait_idle() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return !running_; });
}

void DoneQueue::call(Done& done) {
  try {
    done.callback(std::move(done.answer));
  } catch (const std::exception& error) {
    note_(std::string("a callback of add_async threw: ") + error.what());
  } catch (...) {
    note_("a callback of add_async threw what is no std::exception");
  }
}

}  // namespace headrace::runtime
