#include "core/event/event_sender.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/wire/kinds.h"

namespace headrace {
namespace {

// How often lanes that somebody waits for are looked at.
constexpr Millis kLookEvery{20};

// One event and one frame: a lane that waits for a place among all frames can have one once so much
// is free.
constexpr std::size_t kAtOnce = limits::kEventPayloadBytes + 2 * limits::kFrameBytes;

constexpr std::size_t kSpareMost = 32;

tl::unexpected<Error> too_large(const char* what, std::size_t size, std::size_t limit) {
  return fail(Code::kInvalid, std::string("the event's ") + what + " of " + std::to_string(size) +
                                  " bytes is larger than the limit of " + std::to_string(limit));
}

// Both ends must know the session before an event can leave.
bool needs_period(const EventLane& lane) {
  return lane.open && (!lane.window.session().exists() || lane.window.period_needed());
}

}  // namespace

EventLane* EventSender::find(const NodeId& node) {
  const auto at = lanes_.find(node);
  return at == lanes_.end() ? nullptr : at->second.get();
}

bool EventSender::has_place(const EventLane& lane, std::size_t cost) const {
  return queued_ + cost <= limits::kEventQueueBytes ||
         lane.bytes() + cost <= limits::kEventQueueBytes / lanes_.size();
}

template <typename Add>
void EventSender::fill(EventLane& lane, Add&& add) {
  const auto before = lane.bytes();
  add();
  queued_ += lane.bytes() - before;
  beat_ = true;
  set_ready(lane);
}

void EventSender::set_ready(EventLane& lane) {
  if (lane.ready || lane.refused() || lane.empty()) return;
  lane.ready = true;
  ready_.push_back(&lane);
}

void EventSender::set_due(EventLane& lane) {
  if (lane.due) return;
  lane.due = true;
  due_.push_back(&lane);
}

Result<const EventSender::Aim*> EventSender::aim(std::string_view topic) {
  if (aim_.changes == router_.changes() && aim_.topic == topic && !topic.empty()) return &aim_;
  const auto found = router_.route(topic);
  if (!found) return fail(found.error());
  const Route& route = **found;
  aim_.topic = topic;
  aim_.changes = router_.changes();
  aim_.depth = route.depth;
  aim_.local = route.local;
  aim_.lanes.clear();
  for (const auto& node : route.remotes) {
    aim_.lanes.push_back(find(node));
    HEADRACE_CHECK(aim_.lanes.back() != nullptr);
  }
  return &aim_;
}

Result<EventSender::Offered> EventSender::offer(std::string_view topic, BytesView params,
                                                BytesView payload, WallTime time) {
  if (params.size() > limits::kParamsBytes)
    return too_large("parameters", params.size(), limits::kParamsBytes);
  if (payload.size() > limits::kEventPayloadBytes)
    return too_large("payload", payload.size(), limits::kEventPayloadBytes);
  const auto found = aim(topic);
  if (!found) return fail(found.error());
  const Aim& aim = **found;
  Offered offered{{++seq_, time, topic, aim.depth, params, payload, 0},
                  aim.local,
                  static_cast<std::uint32_t>(aim.lanes.size() + (aim.local ? 1 : 0)),
                  {}};
  const auto cost = EventLane::cost(offered.event);
  BytesView encoded;
  for (EventLane* lane : aim.lanes) {
    if (!lane->fits(cost) || !has_place(*lane, cost)) {
      offered.without_room.push_back(lane->node());
      continue;
    }
    fill(*lane, [&] {
      if (encoded.empty()) {
        encoded = lane->add(offered.event);
      } else {
        lane->add_encoded(encoded);
      }
    });
  }
  return offered;
}

void EventSender::wait(const std::vector<NodeId>& without_room,
                       const std::shared_ptr<EventParcel>& parcel, MonoTime now) {
  const auto cost = EventLane::cost(parcel->event);
  for (const auto& node : without_room) {
    EventLane& lane = *find(node);
    lane.window.admit(cost, now);
    set_due(lane);
    beat_ = true;
    if (lane.stalled()) {
      ++parcel->dropped;
      ++dropped_;
      continue;
    }
    if (lane.waiting.empty()) waiting_.push_back(&lane);
    lane.waiting.push_back(parcel);
    ++parcel->waiting;
  }
}

void EventSender::drop(const Offered& offered, MonoTime now) {
  const auto cost = EventLane::cost(offered.event);
  for (const auto& node : offered.without_room) {
    EventLane& lane = *find(node);
    lane.window.admit(cost, now);
    set_due(lane);
    beat_ = true;
  }
  dropped_ += offered.without_room.size();
}

void EventSender::cancel(EventParcel& parcel, MonoTime now) {
  const auto lanes = waiting_;
  for (EventLane* lane : lanes) {
    const auto erased =
        std::erase_if(lane->waiting, [&](const auto& waiting) { return waiting.get() == &parcel; });
    if (erased == 0) continue;
    --parcel.waiting;
    ++parcel.dropped;
    ++dropped_;
    promote(*lane, now);
  }
}

// Lets in what waits, as far as there is room.
void EventSender::promote(EventLane& lane, MonoTime now) {
  while (!lane.waiting.empty()) {
    EventParcel& parcel = *lane.waiting.front();
    const auto cost = EventLane::cost(parcel.event);
    const bool admitted = lane.window.admit(cost, now) == ByteWindowSender::Admission::kSend;
    if (!admitted || !has_place(lane, cost)) {
      set_due(lane);
      return;
    }
    fill(lane, [&] { lane.add(parcel.event); });
    --parcel.waiting;
    ++settled_;
    lane.waiting.pop_front();
  }
  std::erase(waiting_, &lane);
}

void EventSender::promote_all(MonoTime now) {
  const auto lanes = waiting_;
  for (EventLane* lane : lanes) promote(*lane, now);
}

void EventSender::drop_waiting(EventLane& lane) {
  for (const auto& parcel : lane.waiting) {
    --parcel->waiting;
    ++parcel->dropped;
    ++dropped_;
    ++settled_;
  }
  lane.waiting.clear();
  std::erase(waiting_, &lane);
}

EventLane& EventSender::open_lane(const NodeId& node, Incarnation life) {
  // Lanes of nodes that are gone are kept: one that was only believed so goes on with its numbers.
  if (lanes_.size() >= limits::kMembers) {
    std::erase_if(lanes_, [](const auto& lane) { return !lane.second->open; });
  }
  const wire::FrameHead head{
      wire::kProtocolVersion, self_.cluster, self_.node, self_.life, node, life};
  return *(lanes_[node] = std::make_unique<EventLane>(head, spare_));
}

void EventSender::close_lane(EventLane& lane) {
  drop_waiting(lane);
  queued_ -= lane.bytes();
  dropped_ += lane.clear();
  lane.on_room();
  lane.open = lane.ready = lane.due = false;
  std::erase(ready_, &lane);
  std::erase(due_, &lane);
}

Result<void> EventSender::set_member(const NodeId& node, Incarnation life, BytesView advert) {
  RegistrationAdvert interests;
  wire::Reader in(advert);
  if (!advert.empty()) decode(in, interests);
  if (!in.ok()) return fail(Code::kProtocol, "the advert of registrations cannot be read");
  if (node == self_.node) return {};  // its own registrations are known first-hand
  EventLane* lane = find(node);
  if (lane != nullptr && lane->life() != life) {
    close_lane(*lane);
    router_.remove(node);
    lane = nullptr;
  }
  if (lane == nullptr) {
    if (interests.interests.empty()) return {};
    lane = &open_lane(node, life);
  }
  if (auto set = router_.set_advert(node, interests); !set) return set;
  lane->open = true;
  lane->window.on_alive();
  beat_ = true;
  set_due(*lane);
  return {};
}

void EventSender::remove_member(const NodeId& node, MonoTime now) {
  router_.remove(node);
  EventLane* lane = find(node);
  if (lane == nullptr) return;
  close_lane(*lane);
  promote_all(now);
}

void EventSender::restart(Incarnation life) {
  for (const auto& [node, lane] : lanes_) {
    router_.remove(node);
    close_lane(*lane);
  }
  lanes_.clear();
  aim_ = {};
  self_.life = life;
}

void EventSender::on_state(const NodeId& node, const wire::LaneState& state, MonoTime now) {
  EventLane* lane = find(node);
  if (lane == nullptr || !lane->open) return;
  const auto before = lane->window.session();
  const auto still = lane->window.stall_at();
  const bool room = lane->window.on_state(state, now);
  if (lane->window.stall_at() != still) lane->moved();
  if (before.exists() && lane->window.session() != before) {
    // The frames belong to a session that is over: nobody would take them.
    queued_ -= lane->bytes();
    dropped_ += lane->clear();
    lane->ready = false;
    std::erase(ready_, lane);
  }
  if (room && !lane->waiting.empty()) promote(*lane, now);
}

std::optional<EventFrameOut> EventSender::take(MonoTime now) {
  if (ready_.empty()) return {};
  EventLane& lane = *ready_.front();
  ready_.pop_front();
  const auto before = lane.bytes();
  auto frame = lane.take();
  queued_ -= before - lane.bytes();
  lane.ready = false;
  set_ready(lane);
  if (!waiting_.empty() && queued_ + kAtOnce > limits::kEventQueueBytes) {
    promote_all(now);
  }
  return frame;
}

void EventSender::put_back(EventFrameOut frame, MonoTime now) {
  EventLane& lane = *find(frame.to);
  if (!lane.open) {
    dropped_ += frame.events;
    return;
  }
  queued_ += frame.bytes.size();
  lane.put_back(std::move(frame), now);
  if (lane.ready) std::erase(ready_, &lane);
  lane.ready = false;
}

void EventSender::add_spare(std::vector<Bytes> buffers) {
  for (auto& buffer : buffers) {
    if (spare_.size() >= kSpareMost) return;
    spare_.push_back(std::move(buffer));
  }
}

void EventSender::on_room(const NodeId& node) {
  EventLane* lane = find(node);
  if (lane == nullptr) return;
  lane->on_room();
  set_ready(*lane);
}

std::vector<std::pair<NodeId, Bytes>> EventSender::take_control() {
  std::vector<std::pair<NodeId, Bytes>> out;
  for (EventLane* lane : due_) {
    lane->due = false;
    collect(*lane, out);
  }
  due_.clear();
  return out;
}

void EventSender::collect(EventLane& lane, std::vector<std::pair<NodeId, Bytes>>& out) {
  auto mail = lane.window.collect();
  const auto& session = lane.window.session();
  if (!session.exists()) mail.query = wire::LaneQuery{session, !lane.waiting.empty()};
  if (mail.query) {
    Bytes message;
    wire::Writer writer(message);
    writer.array(2).u64(number(wire::Kind::kLaneQuery));
    encode(writer, *mail.query);
    out.emplace_back(lane.node(), std::move(message));
  }
  if (mail.mark) fill(lane, [&] { lane.add_mark(*mail.mark); });
}

void EventSender::tick(MonoTime now) {
  if (now >= period_at_) on_period(now);
  if (beat_ && period_at_ == kNever) period_at_ = now + kWindowPeriod;
  if (waiting_.empty() || now < look_at_) return;
  look_at_ = now + kLookEvery;
  const auto lanes = waiting_;
  for (EventLane* lane : lanes) {
    lane->look(now);
    if (lane->stalled()) drop_waiting(*lane);
  }
}

void EventSender::on_period(MonoTime now) {
  period_at_ = now + kWindowPeriod;
  beat_ = false;
  for (const auto& [node, lane] : lanes_) {
    if (!needs_period(*lane)) continue;
    lane->window.on_period();
    set_due(*lane);
    beat_ = true;
  }
  if (!beat_) period_at_ = kNever;
}

MonoTime EventSender::next_timer() const {
  const auto at = beat_ && period_at_ == kNever ? MonoTime::min() : period_at_;
  return waiting_.empty() ? at : std::min(at, look_at_);
}

}  // namespace headrace
