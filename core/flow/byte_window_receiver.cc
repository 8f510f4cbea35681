#include <algorithm>

#include "core/base/check.h"
#include "core/flow/byte_window.h"

namespace headrace {

// A new life of the sender begins a session; the window stays charged with what the old one left.
bool ByteWindowReceiver::hear(Incarnation life) {
  if (life < life_) return false;
  if (life == life_) return true;
  old_held_ = held();
  life_ = life;
  session_ = {self_, session_.counter + 1};
  passed_ = released_ = told_limit_ = 0;
  waiting_ = false;
  due_ = true;
  return true;
}

bool ByteWindowReceiver::on_frame(Incarnation life, const wire::LaneHead& head) {
  if (!hear(life)) return false;
  if (head.session != session_) {
    due_ = true;
    return false;
  }
  if (head.offset < passed_) return false;  // given up as lost already
  pass(head.offset);
  const auto end = head.offset + head.size;
  waiting_ = false;
  if (end > limit() && held() > 0) {
    pass(end);
    return false;
  }
  passed_ = end;
  return true;
}

// Bytes up to `offset` that did not arrive are lost, and count no more.
void ByteWindowReceiver::pass(std::uint64_t offset) {
  if (offset <= passed_) return;
  const auto gap = offset - passed_;
  lost_ += gap;
  passed_ += gap;
  released_ += gap;
}

void ByteWindowReceiver::on_mark(Incarnation life, const wire::LaneMark& mark) {
  if (!hear(life)) return;
  if (mark.session == session_) pass(mark.offset);
  due_ = true;
}

void ByteWindowReceiver::on_query(Incarnation life, const wire::LaneQuery& query) {
  if (!hear(life)) return;
  if (query.session == session_) waiting_ |= query.blocked;
  due_ = true;
}

void ByteWindowReceiver::release(std::uint64_t bytes) {
  HEADRACE_CHECK(bytes <= held());
  const auto old = std::min(bytes, old_held_);
  old_held_ -= old;
  released_ += bytes - old;
}

void ByteWindowReceiver::on_progress() { ++progress_; }

std::uint64_t ByteWindowReceiver::limit() const {
  const auto all = released_ + window_;
  return all > old_held_ ? all - old_held_ : 0;
}

std::optional<wire::LaneState> ByteWindowReceiver::collect(MonoTime now) {
  if (!session_.exists()) return std::nullopt;
  const auto more = limit() - told_limit_;
  const bool useful = more >= std::max<std::uint64_t>(window_ / 2, 1);
  const bool empty = waiting_ && held() == 0 && more > 0;
  if (!due_ && !useful && !empty && now < wake_at()) return std::nullopt;
  due_ = false;
  told_limit_ = limit();
  told_progress_ = progress_;
  told_at_ = now;
  return wire::LaneState{session_, life_, told_limit_, passed_, released_, progress_};
}

MonoTime ByteWindowReceiver::wake_at() const {
  const bool moved = limit() > told_limit_ || progress_ > told_progress_;
  return session_.exists() && holding_back() && moved ? told_at_ + kLaneProgress : kNever;
}

}  // namespace headrace
