#include "nodes/runtime/event_plane.h"

#include <algorithm>

#include "core/event/event_id.h"
#include "core/topic/topic.h"
#include "nodes/runtime/interrupt.h"

namespace headrace::runtime {
namespace {

constexpr Millis kLocalRetry{10};  // while a queue that holds back may stop moving
// Headrace's own events are numbered apart, so that the program's have no gaps for their receivers.
constexpr std::uint64_t kSystemSeq = 1ULL << 63;
constexpr std::size_t kSystemWaiting = 1024;  // of them, for a queue that holds back

tl::unexpected<Error> closed() { return fail(Code::kClosed, "the node is closed"); }

}  // namespace

EventPlane::EventPlane(EventPlaneConfig config, EventPlaneHooks hooks)
    : config_(config),
      hooks_(std::move(hooks)),
      id_base_(event_id(config.self, config.incarnation, 0).high()),
      sender_({config.self, config.incarnation, config.cluster}),
      system_(config.self),
      intake_(config.incarnation, [this](RegistrationId id) {
        return runners_.at(id)->ended.load(std::memory_order_relaxed);
      }) {}

EventPlane::~EventPlane() = default;

// What the loop would do in flush().
bool EventPlane::work() const {
  return sender_.has_frames() || sender_.has_control() || intake_.has_control() || resume_due_ ||
         advert_due_;
}

// Unlocks, then does what may not be done under the lock: workers for the registrations that have
// become runnable, publishers that wait no longer, and the loop if it sleeps over work.
void EventPlane::leave(Lock& lock) {
  const bool wake = asleep_ && work();
  if (wake) asleep_ = false;
  if (const auto settled = sender_.settled() + local_settled_; settled != told_settled_) {
    told_settled_ = settled;
    if (publishing_ > 0) room_.notify_all();
  }
  if (!intake_.has_runnable()) {
    lock.unlock();
  } else {
    const auto runnable = intake_.take_runnable();
    lock.unlock();
    for (const auto id : runnable) hooks_.schedule(id);
  }
  if (wake) hooks_.wake();
}

Result<EventSender::Offered> EventPlane::offer(Lock& lock, std::string_view topic, BytesView params,
                                               BytesView payload) {
  if (is_system_topic(topic)) {
    return fail(Code::kForbidden, "only Headrace publishes to $sys and below; use another topic");
  }
  const auto time = hooks_.wall();
  lock.lock();
  if (closed_) return closed();
  return sender_.offer(topic, params, payload, time);
}

Published EventPlane::published(const EventSender::Offered& offered) const {
  return {EventId::from_halves(id_base_, offered.event.seq), offered.destinations, 0};
}

// Destinations that were not served at once: this node, and those without room.
std::shared_ptr<EventParcel> EventPlane::place_rest(const EventSender::Offered& offered,
                                                    bool patient) {
  const auto parcel = std::make_shared<EventParcel>(offered.event);
  const auto now = hooks_.mono();
  if (patient) {
    sender_.wait(offered.without_room, parcel, now);
  } else {
    sender_.drop(offered, now);
    parcel->dropped = static_cast<std::uint32_t>(offered.without_room.size());
  }
  if (offered.local) place_local(parcel, patient, now);
  return parcel;
}

// For this node's own registrations: at once, or in its turn if it may wait. Else it is dropped.
void EventPlane::place_local(const std::shared_ptr<EventParcel>& parcel, bool may_wait,
                             MonoTime now) {
  EventOrigin origin{config_.self, config_.incarnation, parcel,
                     sizeof(EventParcel) + parcel->bytes.size()};
  const auto placed =
      local_.empty() ? intake_.place(origin, parcel->event, now) : EventIntake::Placed::kNoRoom;
  if (placed == EventIntake::Placed::kNoRoom && may_wait) {
    local_.push_back({parcel, std::move(origin)});
    ++parcel->waiting;
    local_at_ = std::min(local_at_, now + kLocalRetry);
  } else if (placed != EventIntake::Placed::kTaken) {
    ++parcel->dropped;
    ++local_dropped_;
  }
}

void EventPlane::resume_local(MonoTime now) {
  while (!local_.empty()) {
    auto& [parcel, origin] = local_.front();
    const auto placed = intake_.place(origin, parcel->event, now);
    if (placed == EventIntake::Placed::kNoRoom) break;
    --parcel->waiting;
    ++local_settled_;
    if (placed != EventIntake::Placed::kTaken) {
      ++parcel->dropped;
      ++local_dropped_;
    }
    local_.pop_front();
  }
  local_at_ = local_.empty() ? kNever : now + kLocalRetry;
}

// It waits no longer.
void EventPlane::cancel(EventParcel& parcel, MonoTime now) {
  sender_.cancel(parcel, now);
  const auto erased =
      std::erase_if(local_, [&](const LocalWait& wait) { return wait.parcel.get() == &parcel; });
  if (erased == 0) return;
  --parcel.waiting;
  ++parcel.dropped;
  ++local_dropped_;
}

Result<Published> EventPlane::publish(std::string_view topic, BytesView params, BytesView payload,
                                      Millis timeout) {
  Lock lock(mutex_, std::defer_lock);
  const auto offered = offer(lock, topic, params, payload);
  if (!offered) return fail(offered.error());
  auto result = published(*offered);
  if (!offered->local && offered->without_room.empty()) {
    leave(lock);
    return result;
  }
  const auto parcel = place_rest(*offered, true);
  if (parcel->waiting > 0) {
    ++publishing_;
    const auto deadline = deadline_after(mono_now(), timeout);
    leave(lock);
    lock.lock();
    wait_until(room_, lock, deadline, [&] { return parcel->waiting == 0 || closed_; });
    --publishing_;
    if (parcel->waiting > 0) cancel(*parcel, hooks_.mono());
    if (closed_) return closed();
  }
  result.dropped = parcel->dropped;
  leave(lock);
  return result;
}

Result<Published> EventPlane::try_publish(std::string_view topic, BytesView params,
                                          BytesView payload) {
  Lock lock(mutex_, std::defer_lock);
  const auto offered = offer(lock, topic, params, payload);
  if (!offered) return fail(offered.error());
  auto result = published(*offered);
  if (offered->local || !offered->without_room.empty()) {
    result.dropped = place_rest(*offered, false)->dropped;
  }
  leave(lock);
  return result;
}

void EventPlane::publish_async(std::string_view topic, BytesView params, BytesView payload,
                               Millis patience, Done done) {
  Lock lock(mutex_, std::defer_lock);
  const auto offered = offer(lock, topic, params, payload);
  if (!offered) {
    if (lock.owns_lock()) lock.unlock();
    return done(fail(offered.error()));
  }
  auto result = published(*offered);
  if (offered->local || !offered->without_room.empty()) {
    auto parcel = place_rest(*offered, true);
    if (parcel->waiting > 0) {
      promises_.push_back({std::move(parcel), result, hooks_.mono() + patience, std::move(done)});
      return leave(lock);
    }
    result.dropped = parcel->dropped;
  }
  leave(lock);
  done(result);
}

void EventPlane::publish_system(std::string_view topic, BytesView params) {
  const auto time = hooks_.wall();
  Lock lock(mutex_);
  const auto route = system_.route(topic);
  if (closed_ || !route || !(*route)->local) return;
  const wire::Event event{kSystemSeq | ++system_seq_, time, topic, (*route)->depth, params, {}, 0};
  place_local(std::make_shared<EventParcel>(event), local_.size() < kSystemWaiting, hooks_.mono());
  leave(lock);
}

// Answers the publishes of publish_async that have come to their end.
void EventPlane::fulfil(Lock& lock, MonoTime now) {
  std::vector<Promise> over;
  std::erase_if(promises_, [&](Promise& promise) {
    if (promise.parcel->waiting > 0 && now < promise.deadline && !closed_) return false;
    if (promise.parcel->waiting > 0) cancel(*promise.parcel, now);
    promise.published.dropped = promise.parcel->dropped;
    over.push_back(std::move(promise));
    return true;
  });
  if (over.empty()) return;
  const bool is_closed = closed_;
  lock.unlock();
  for (auto& promise : over) {
    promise.done(is_closed ? Result<Published>(closed()) : promise.published);
  }
  lock.lock();
}

std::size_t EventPlane::match_count(std::string_view topic) {
  const Lock lock(mutex_);
  return sender_.router().match_count(topic);
}

EventStats EventPlane::stats() const {
  const Lock lock(mutex_);
  const auto& counts = intake_.counts();
  EventStats stats;
  stats.published = sender_.offered();
  stats.sent_dropped = sender_.dropped() + local_dropped_;
  stats.received = counts.received;
  stats.delivered = delivered_;
  stats.queue_dropped = counts.dropped;
  stats.callbacks_failed = failed_;
  stats.unwanted = counts.unwanted;
  stats.malformed = counts.malformed;
  stats.lost_bytes = intake_.lost_bytes();
  stats.queued_bytes = sender_.queued_bytes();
  return stats;
}

}  // namespace headrace::runtime
