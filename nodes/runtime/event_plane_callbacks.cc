// EventPlane: registrations, and the workers that run their callbacks.
#include <algorithm>
#include <bit>
#include <exception>

#include "core/event/event_id.h"
#include "core/value/value_codec.h"
#include "nodes/runtime/event_plane.h"
#include "nodes/runtime/interrupt.h"

namespace headrace::runtime {
namespace {

// What a registration may use of a worker before others get their turn.
constexpr Millis kTurnTime{5};
constexpr unsigned kTurnBatches = 16;
constexpr std::size_t kCallbacksPerLook = 32;  // at the clock

}  // namespace

// The advert follows with the loop's next turn; this node's own publishes know at once.
void EventPlane::apply(const LocalRegistrations::Changed& changed) {
  if (!changed) return;
  // A pattern that was parsed, and flags as they are: nothing to refuse.
  HEADRACE_CHECK(sender_.router().set_interest(config_.self, *changed).has_value());
  if (is_system_topic(changed->topic)) {
    HEADRACE_CHECK(system_.set_interest(config_.self, *changed).has_value());
  }
  advert_due_ = true;
}

Result<RegistrationId> EventPlane::add_registration(std::string_view topic, bool sink,
                                                    Callback callback) {
  auto pattern = TopicPattern::parse(topic);
  if (!pattern) return fail(pattern.error());
  Lock lock(mutex_);
  if (closed_) return fail(Code::kClosed, "the node is closed");
  const auto id = last_id_ + 1;
  const auto changed = intake_.add({id, std::move(*pattern), sink});
  if (!changed) return fail(changed.error());
  last_id_ = id;
  runners_.emplace(id, std::make_shared<Runner>(std::move(callback)));
  apply(*changed);
  leave(lock);
  return id;
}

bool EventPlane::remove_registration(RegistrationId id) {
  Lock lock(mutex_);
  const auto at = runners_.find(id);
  if (at == runners_.end()) return false;
  const auto runner = at->second;
  runner->removed.store(true, std::memory_order_relaxed);
  runners_.erase(at);
  if (const auto changed = intake_.remove(id)) apply(*changed);
  resume_due_ |= intake_.holds_back() || !local_.empty();
  leave(lock);
  lock.lock();
  if (!runner->running || waits_for_this_thread(*runner)) return true;
  const auto self = std::this_thread::get_id();
  const auto mine = std::find_if(busy_.begin(), busy_.end(),
                                 [&](const Runner* busy) { return busy->worker == self; });
  Runner* caller = mine == busy_.end() ? nullptr : *mine;
  if (caller != nullptr) caller->removes = runner.get();
  wait_until(ended_, lock, kNever, [&] { return !runner->running; });
  if (caller != nullptr) caller->removes = nullptr;
  return true;
}

// Its callback runs on this thread, or waits, by others perhaps, for one that does.
bool EventPlane::waits_for_this_thread(const Runner& runner) const {
  for (const Runner* at = &runner; at != nullptr && at->running; at = at->removes) {
    if (at->worker == std::this_thread::get_id()) return true;
  }
  return false;
}

void EventPlane::set_idle(Runner& runner) {
  runner.running = false;
  std::erase(busy_, &runner);
}

bool EventPlane::idle() const {
  const Lock lock(mutex_);
  return local_.empty() && intake_.idle();
}

void EventPlane::close() {
  Lock lock(mutex_);
  closed_ = true;
  for (const auto& [id, runner] : runners_) runner->removed.store(true, std::memory_order_relaxed);
  lock.unlock();
  room_.notify_all();
}

void EventPlane::run(RegistrationId id) {
  Lock lock(mutex_);
  const auto at = runners_.find(id);
  if (at == runners_.end() || closed_) return;
  const auto runner = at->second;
  runner->running = true;
  runner->worker = std::this_thread::get_id();
  busy_.push_back(runner.get());
  const auto until = hooks_.mono() + kTurnTime;
  bool more = true;
  for (unsigned i = 0; more && i < kTurnBatches; ++i) {
    auto batch = intake_.take(id);
    if (!batch) {
      set_idle(*runner);
      ended_.notify_all();
      return leave(lock);
    }
    lock.unlock();
    const bool all = run_batch(*runner, *batch, until);
    if (all) batch->origin.hold.reset();  // the memory goes back without the lock
    lock.lock();
    more = all && hooks_.mono() < until && !runner->removed.load(std::memory_order_relaxed);
    if (!all) {
      intake_.put_back(id, std::move(*batch));
    } else if (intake_.finish(id, std::move(*batch))) {
      resume_due_ |= intake_.holds_back() || !local_.empty();
    }
    if (asleep_ && resume_due_) {
      leave(lock);
      lock.lock();
    }
  }
  set_idle(*runner);
  if (runner->removed.load(std::memory_order_relaxed)) {
    ended_.notify_all();
    return leave(lock);
  }
  leave(lock);
  hooks_.schedule(id);
}

// False if the turn is over before the batch is.
bool EventPlane::run_batch(Runner& runner, EventBatch& batch, MonoTime until) {
  static const ParamSet none;
  const auto& origin = batch.origin;
  const auto id_base = event_id(origin.node, origin.life, 0).high();
  const auto count = batch.events.size();
  const auto ended = runner.ended.load(std::memory_order_relaxed);
  std::uint64_t done = 0;
  while (batch.next < count) {
    // The first slow ones are noticed at once; quick ones do not pay for the clock each time.
    const bool look =
        done >= kCallbacksPerLook ? done % kCallbacksPerLook == 0 : std::has_single_bit(done);
    if (look && hooks_.mono() >= until) break;
    if (runner.removed.load(std::memory_order_relaxed)) break;
    const wire::Event& event = batch.events[batch.next++];
    const auto id = EventId::from_halves(id_base, event.seq);
    run_callback(runner, {event.topic, none, event.payload, origin.node, id, event.time, event.seq},
                 event.params);
    runner.ended.store(ended + ++done, std::memory_order_relaxed);
  }
  delivered_.fetch_add(done, std::memory_order_relaxed);
  return batch.next == count || runner.removed.load(std::memory_order_relaxed);
}

void EventPlane::run_callback(Runner& runner, const Event& event, BytesView params) {
  std::string why;
  try {
    if (params.empty()) return runner.callback(event);
    const auto decoded = decode_params(params);
    if (decoded) {
      return runner.callback(
          {event.topic, *decoded, event.payload, event.node, event.id, event.time, event.seq});
    }
    why = decoded.error().message;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  failed_.fetch_add(1, std::memory_order_relaxed);
  hooks_.note("the callback for an event at " + std::string(event.topic) + " failed: " + why);
}

}  // namespace headrace::runtime
