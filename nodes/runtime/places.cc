#include "nodes/runtime/places.h"

#include "nodes/runtime/interrupt.h"

namespace headrace::runtime {

Result<void> Places::take(std::size_t bytes, MonoTime deadline) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return closed_ || fits(bytes); };
  if (!ready()) {
    ++waiting_;
    wait_until(room_, lock, deadline, ready);
    --waiting_;
  }
  if (closed_) return fail(Code::kClosed, "the node is closed");
  if (!fits(bytes)) {
    return fail(Code::kTimeout, "nothing was done: " + std::to_string(calls_) + " calls with " +
                                    std::to_string(bytes_) +
                                    " bytes were under way all the time; try again later");
  }
  ++calls_;
  bytes_ += bytes;
  return {};
}

void Places::give_back(std::size_t calls, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  calls_ -= calls;
  bytes_ -= bytes;
  const bool roomy = calls_ <= most_calls_ / 4 * 3 && bytes_ <= most_bytes_ / 4 * 3;
  if (waiting_ > 0 && roomy) room_.notify_all();
}

void Places::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

}  // namespace headrace::runtime
