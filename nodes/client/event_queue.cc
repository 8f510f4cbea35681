#include "nodes/client/event_queue.h"

#include <utility>

#include "core/base/limits.h"

namespace headrace::client {

void EventQueue::push(ClientEvent event, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes_ + bytes > limits::kClientEventBytes && !events_.empty()) {
      ++dropped_;
      return;
    }
    bytes_ += bytes;
    events_.push_back({std::move(event), bytes});
  }
  changed_.notify_one();
}

void EventQueue::drop() {
  const std::lock_guard lock(mutex_);
  ++dropped_;
}

void EventQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

Result<std::optional<ClientEvent>> EventQueue::next(Millis timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return closed_ || !events_.empty(); });
  if (!events_.empty()) {
    std::optional<ClientEvent> event = std::move(events_.front().event);
    bytes_ -= events_.front().bytes;
    events_.pop_front();
    return event;
  }
  if (closed_) return fail(Code::kClosed, "the client is closed");
  return std::optional<ClientEvent>{};
}

std::uint64_t EventQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace headrace::client
