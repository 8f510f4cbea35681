#include "nodes/runtime/board.h"

#include <utility>

#include "nodes/runtime/interrupt.h"

namespace headrace::runtime {

void Board::set_members(std::vector<Member> members) {
  auto shared = std::make_shared<const std::vector<Member>>(std::move(members));
  const std::lock_guard lock(mutex_);
  members_.swap(shared);
}

std::vector<Member> Board::members() const {
  std::shared_ptr<const std::vector<Member>> members;
  {
    const std::lock_guard lock(mutex_);
    members = members_;
  }
  return *members;
}

void Board::set_ready() {
  const std::lock_guard lock(mutex_);
  ready_ = true;
  changed_.notify_all();
}

Result<void> Board::wait_ready(MonoTime deadline) {
  std::unique_lock lock(mutex_);
  wait_until(changed_, lock, deadline, [this] { return ready_ || closed_; });
  if (closed_) return fail(Code::kClosed, "the node is closed");
  if (ready_) return {};
  return fail(
      Code::kTimeout,
      "none of the nodes to join through has told all it knows yet; are they running, in the "
      "same cluster?");
}

void Board::set_closed() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Board::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void Board::pause(Millis time) {
  std::unique_lock lock(mutex_);
  wait_until(changed_, lock, deadline_after(mono_now(), time), [this] { return closed_; });
}

}  // namespace headrace::runtime
