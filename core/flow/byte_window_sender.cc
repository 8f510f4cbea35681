#include <algorithm>

#include "core/base/check.h"
#include "core/flow/byte_window.h"
#include "core/flow/period.h"

namespace headrace {

bool ByteWindowSender::fits(std::uint64_t bytes) const {
  return session_.exists() && (bytes <= room() || outstanding() == 0);
}

ByteWindowSender::Admission ByteWindowSender::admit(std::uint64_t bytes, MonoTime now) {
  if (fits(bytes)) {
    blocked_ = false;
    return Admission::kSend;
  }
  if (!blocked_) {
    blocked_ = true;
    still_since_ = now;
  }
  if (!asked_) asked_ = query_due_ = true;
  return stalled(now) ? Admission::kStalled : Admission::kWait;
}

wire::LaneHead ByteWindowSender::use(std::uint64_t bytes) {
  HEADRACE_CHECK(session_.exists());
  const wire::LaneHead head{session_, used_, bytes};
  used_ += bytes;
  asked_ = false;
  return head;
}

MonoTime ByteWindowSender::stall_at() const {
  if (!blocked_) return kNever;
  return still_since_ + (session_.exists() ? kLaneStall : kLaneOpening);
}

bool ByteWindowSender::on_state(const wire::LaneState& state, MonoTime now) {
  if (state.sender != self_ || state.session < session_) return false;
  silent_ = 0;
  const bool fresh = state.session > session_;
  if (fresh) adopt(state.session);
  if (state.passed > used_) return false;  // no honest receiver counts more
  const bool room = fresh || state.released > released_ || state.limit > limit_;
  const bool moved = room || state.passed > passed_ || state.progress > progress_;
  if (state.passed > passed_) behind_ = 0;
  limit_ = std::max(limit_, state.limit);
  passed_ = std::max(passed_, state.passed);
  released_ = std::max(released_, state.released);
  progress_ = std::max(progress_, state.progress);
  if (moved) still_since_ = now;
  if (room) blocked_ = false;  // until somebody asks for more than there is
  return room;
}

// What was outstanding in the old session is the receiver's loss to count, if it is one.
void ByteWindowSender::adopt(const wire::Session& session) {
  session_ = session;
  limit_ = used_ = passed_ = released_ = progress_ = 0;
  asked_ = false;
  behind_ = 0;
}

void ByteWindowSender::on_alive() {
  silent_ = 0;
  query_due_ |= period_needed();
}

void ByteWindowSender::on_period() {
  ++silent_;
  if (period_needed() && silent_ >= kPatience) query_due_ = true;
  behind_ = used_ > passed_ ? behind_ + 1 : 0;
  if (behind_ >= kPatience) mark_due_ = true;
}

ByteWindowSender::Outgoing ByteWindowSender::collect() {
  Outgoing out;
  if (query_due_) out.query = wire::LaneQuery{session_, blocked_};
  if (mark_due_) out.mark = wire::LaneMark{session_, used_};
  query_due_ = mark_due_ = false;
  return out;
}

}  // namespace headrace
