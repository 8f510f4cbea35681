// EventPlane: what the loop calls.
#include <algorithm>

#include "core/event/event_id.h"
#include "core/wire/event_frame.h"
#include "core/wire/kinds.h"
#include "nodes/runtime/event_plane.h"

namespace headrace::runtime {
namespace {

// A turn that sends so many events is part of a stream: the next ones are on their way.
constexpr std::size_t kStream = 16;
constexpr Micros kNap{100};

constexpr std::size_t kFramesPerFlush = 64;  // then the loop looks at what came in
constexpr std::size_t kFramesAtOnce = 16;    // taken under one lock

}  // namespace

void EventPlane::set_member(const NodeId& node, Incarnation life, BytesView registrations) {
  Lock lock(mutex_);
  const auto set = sender_.set_member(node, life, registrations);
  leave(lock);
  if (!set) hooks_.note("node " + node.hex() + ": " + set.error().message);
}

void EventPlane::remove_member(const NodeId& node) {
  Lock lock(mutex_);
  sender_.remove_member(node, hooks_.mono());
  intake_.remove_member(node);
  leave(lock);
}

void EventPlane::restart(Incarnation incarnation) {
  Lock lock(mutex_);
  config_.incarnation = incarnation;
  id_base_ = event_id(config_.self, incarnation, 0).high();
  sender_.restart(incarnation);
  intake_.restart(incarnation);
  advert_due_ = true;
  leave(lock);
}

void EventPlane::receive(const job::Now& now, const NodeId& from, Incarnation life,
                         BytesView message, const std::shared_ptr<const void>& frame) {
  wire::Reader in(message);
  in.array(limits::kValueElements);
  const auto kind = in.u64();
  Lock lock(mutex_);
  if (kind == number(wire::Kind::kEventFrame)) {
    if (wire::EventFrame events; decode(in, events)) {
      intake_.on_frame(from, life, events, frame, now.mono);
    }
  } else if (kind == number(wire::Kind::kLaneState)) {
    wire::LaneState state;
    decode(in, state);
    if (in.ok()) sender_.on_state(from, state, now.mono);
  } else if (kind == number(wire::Kind::kLaneMark)) {
    wire::LaneMark mark;
    decode(in, mark);
    if (in.ok()) intake_.on_mark(from, life, mark);
  } else if (kind == number(wire::Kind::kLaneQuery)) {
    wire::LaneQuery query;
    decode(in, query);
    if (in.ok()) intake_.on_query(from, life, query);
  } else if (kind == number(wire::Kind::kEventGone)) {
    wire::EventGone gone;
    if (decode(in, gone)) sender_.router().gone(from, gone.topic, gone.depth, gone.version);
  } else {
    in.fail();
  }
  if (!in.ok()) intake_.count_malformed();
  leave(lock);
}

void EventPlane::send(const std::vector<std::pair<NodeId, Bytes>>& messages) {
  for (const auto& [node, message] : messages) hooks_.send_control(node, message);
}

void EventPlane::flush(const Emit& emit, std::vector<Bytes> spare) {
  const auto now = hooks_.mono();
  Lock lock(mutex_);
  if (std::exchange(resume_due_, false)) {
    intake_.resume(now);
    resume_local(now);
  }
  std::optional<Bytes> advert;
  if (std::exchange(advert_due_, false)) {
    wire::Writer out(advert.emplace());
    encode(out, intake_.advert());
  }
  fulfil(lock, now);
  sender_.add_spare(std::move(spare));
  auto mail = sender_.take_control();
  const auto states = intake_.take_control(now);
  mail.insert(mail.end(), states.begin(), states.end());
  leave(lock);
  if (advert) hooks_.registrations_changed(std::move(*advert));
  send(mail);
  for (std::size_t sent = 0; sent < kFramesPerFlush; sent += kFramesAtOnce) {
    std::vector<EventFrameOut> frames;
    lock.lock();
    while (frames.size() < kFramesAtOnce) {
      auto frame = sender_.take(now);
      if (!frame) break;
      frames.push_back(std::move(*frame));
    }
    leave(lock);
    if (frames.empty()) return;
    for (const auto& frame : frames) sent_ += frame.events;
    std::vector<EventFrameOut> refused;
    for (auto& frame : frames) {
      // Behind a frame that was refused none may overtake it.
      const bool behind = std::any_of(refused.begin(), refused.end(),
                                      [&](const auto& other) { return other.to == frame.to; });
      if (behind || !emit(frame.to, frame.bytes)) refused.push_back(std::move(frame));
    }
    if (refused.empty()) continue;
    lock.lock();
    while (!refused.empty()) {
      sender_.put_back(std::move(refused.back()), now);
      refused.pop_back();
    }
    leave(lock);
  }
}

void EventPlane::on_room(const NodeId& node) {
  const Lock lock(mutex_);
  sender_.on_room(node);
}

void EventPlane::tick(MonoTime now) {
  Lock lock(mutex_);
  sender_.tick(now);
  intake_.resume(now);
  if (now >= local_at_) resume_local(now);
  fulfil(lock, now);
  leave(lock);
}

MonoTime EventPlane::next_timer() const {
  const Lock lock(mutex_);
  auto at = std::min({sender_.next_timer(), intake_.next_timer(), local_at_});
  for (const auto& promise : promises_) at = std::min(at, promise.deadline);
  return at;
}

bool EventPlane::has_work() const {
  const Lock lock(mutex_);
  return work();
}

bool EventPlane::before_sleep() {
  if (std::exchange(sent_, 0) >= kStream) std::this_thread::sleep_for(kNap);
  const Lock lock(mutex_);
  asleep_ = !work();
  return asleep_;
}

void EventPlane::after_sleep() {
  const Lock lock(mutex_);
  asleep_ = false;
}

}  // namespace headrace::runtime
