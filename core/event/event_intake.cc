#include "core/event/event_intake.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/event.h"
#include "core/wire/kinds.h"

namespace headrace {
namespace {

constexpr Millis kResumeEvery{10};  // while a queue that holds back may stop moving
constexpr std::size_t kExpectAtMost = 512;
constexpr std::size_t kSpareBatches = 16;
constexpr std::size_t kFieldsMax = 64;  // of a message; newer versions append
constexpr std::size_t kBlobFields = 5;

}  // namespace

EventIntake::Source::Source(const NodeId& id, Incarnation self, std::uint64_t sessions)
    : node(id),
      window(self, limits::kLaneWindowBytes, sessions),
      blobs(1, limits::kEventPayloadBytes) {}

void EventIntake::restart(Incarnation self) {
  lost_before_ = lost_bytes();
  held_back_.clear();
  watched_.clear();
  control_.clear();
  sources_.clear();
  sessions_ = 0;
  self_ = self;
}

Result<LocalRegistrations::Changed> EventIntake::add(LocalRegistration registration) {
  const auto id = registration.id;
  auto changed = registrations_.add(std::move(registration));
  if (!changed) return changed;
  queues_.try_emplace(id, id);
  registrations_changed();
  return changed;
}

Result<LocalRegistrations::Changed> EventIntake::remove(RegistrationId id) {
  auto changed = registrations_.remove(id);
  if (!changed) return changed;
  queues_.erase(id);
  std::erase(runnable_, id);
  registrations_changed();
  return changed;
}

void EventIntake::registrations_changed() {
  offered_.clear();
  for (const auto& [node, source] : sources_) source->told_gone.clear();
}

// The queues of the registrations that such an event is offered to.
const std::vector<RegistrationQueue*>& EventIntake::offered(std::string_view topic,
                                                            unsigned depth) {
  if (!offered_.empty() && depth == depth_ && topic == topic_) return offered_;
  offered_.clear();
  const auto ids = registrations_.offered(topic, depth);
  if (!ids) return offered_;
  for (const auto id : *ids) offered_.push_back(&queues_.at(id));
  topic_ = topic;
  depth_ = depth;
  return offered_;
}

EventIntake::Placed EventIntake::place(const EventOrigin& origin, const wire::Event& event,
                                       MonoTime now) {
  return place(origin, event, 1, now);
}

EventIntake::Placed EventIntake::place(const EventOrigin& origin, const wire::Event& event,
                                       std::size_t expect, MonoTime now) {
  const auto& queues = offered(event.topic, event.depth);
  if (queues.empty()) return Placed::kUnwanted;
  for (RegistrationQueue* queue : queues) {
    if (!queue->fits(origin) && queue->moving(ended_(queue->id()), now)) return Placed::kNoRoom;
  }
  bool taken = false;
  for (RegistrationQueue* queue : queues) {
    if (!queue->fits(origin)) {
      ++counts_.dropped;
      continue;
    }
    taken = true;
    queue->push(origin, event, expect, spare_, now);
    if (queue->scheduled) continue;
    queue->scheduled = true;
    runnable_.push_back(queue->id());
  }
  return taken ? Placed::kTaken : Placed::kDropped;
}

EventIntake::Source& EventIntake::source(const NodeId& node, Incarnation life) {
  auto& source = sources_[node];
  if (!source) source = std::make_unique<Source>(node, self_, sessions_);
  source->member = true;
  if (life > source->life) {
    source->life = life;
    source->told_gone.clear();
    source->blobs = wire::BlobAssembler(1, limits::kEventPayloadBytes);
  }
  return *source;
}

void EventIntake::watch(Source& source) {
  touched_ = true;
  if (source.watched) return;
  source.watched = true;
  watched_.push_back(&source);
}

void EventIntake::on_frame(const NodeId& from, Incarnation life, const wire::EventFrame& frame,
                           const std::shared_ptr<const void>& hold, MonoTime now) {
  Source& source = this->source(from, life);
  watch(source);
  if (!source.window.on_frame(life, frame.lane)) return;
  source.pending.push_back({{from, life, hold, frame.events.size()}, frame.events});
  if (source.pending.size() == 1) take_in(source, now);
}

void EventIntake::on_mark(const NodeId& from, Incarnation life, const wire::LaneMark& mark) {
  Source& source = this->source(from, life);
  source.window.on_mark(life, mark);
  watch(source);
}

void EventIntake::on_query(const NodeId& from, Incarnation life, const wire::LaneQuery& query) {
  Source& source = this->source(from, life);
  source.window.on_query(life, query);
  watch(source);
}

// Takes in what is pending, in order, until there is no room.
void EventIntake::take_in(Source& source, MonoTime now) {
  while (!source.pending.empty()) {
    Pending& pending = source.pending.front();
    const auto before = pending.rest.size();
    const bool all = take_in(source, pending, now);
    source.window.release(before - pending.rest.size());
    if (!all) {
      if (std::find(held_back_.begin(), held_back_.end(), &source) == held_back_.end()) {
        held_back_.push_back(&source);
      }
      if (resume_at_ == kNever) resume_at_ = now + kResumeEvery;
      return;
    }
    source.pending.pop_front();
  }
}

// False if there is no room for the next event.
bool EventIntake::take_in(Source& source, Pending& pending, MonoTime now) {
  while (!pending.rest.empty()) {
    wire::Reader in(pending.rest);
    const auto fields = in.array(kFieldsMax);
    const auto kind = in.u64();
    const bool is_event = kind == number(wire::Kind::kEvent);
    std::size_t known = 1;
    wire::Event event;
    if (is_event) {
      known = wire::kEventFields;
      decode(in, event);
    } else if (kind == number(wire::Kind::kBlob)) {
      known = kBlobFields;
      wire::BlobPiece piece;
      if (decode(in, piece)) source.blobs.add(piece);
    }
    if (fields < known) in.fail();
    for (auto i = known; i < fields && in.ok(); ++i) in.skip();
    if (!in.ok()) {
      ++counts_.malformed;
      pending.rest = {};
      return true;
    }
    const auto rest = in.rest();
    if (is_event) {
      const auto size = pending.rest.size() - rest.size();
      const auto expect = std::min(pending.rest.size() / size + 1, kExpectAtMost);
      if (!take_event(source, pending.origin, event, expect, now)) return false;
    }
    pending.rest = rest;
  }
  return true;
}

// False if there is no room for it.
bool EventIntake::take_event(Source& source, const EventOrigin& origin, wire::Event& event,
                             std::size_t expect, MonoTime now) {
  EventOrigin whole;
  if (event.blob != 0) {
    if (!source.whole) {
      auto payload = source.blobs.take(event.blob);
      if (!payload) {
        ++counts_.lost;
        return true;
      }
      source.whole = std::make_shared<Whole>(Whole{origin.hold, std::move(*payload)});
    }
    event.payload = source.whole->payload;
    whole = {origin.node, origin.life, source.whole, origin.bytes + event.payload.size()};
  }
  const auto placed = place(event.blob == 0 ? origin : whole, event, expect, now);
  if (placed == Placed::kNoRoom) return false;
  source.whole.reset();
  ++counts_.received;
  if (placed == Placed::kUnwanted) answer_gone(source, event);
  return true;
}

void EventIntake::answer_gone(Source& source, const wire::Event& event) {
  ++counts_.unwanted;
  auto& told = source.told_gone;
  if (told.size() >= limits::kGoneTold) told.clear();
  if (!told.emplace(event.topic).second) return;
  Bytes message;
  encode(message, wire::EventGone{event.topic, event.depth, registrations_.version()});
  control_.emplace_back(source.node, std::move(message));
}

void EventIntake::remove_member(const NodeId& node) {
  const auto at = sources_.find(node);
  if (at == sources_.end()) return;
  at->second->member = false;
  forget(*at->second);
}

// Once nothing of it is held back. Later sessions get higher numbers, so that no frame of an
// earlier one passes for theirs.
void EventIntake::forget(Source& source) {
  if (source.member || !source.pending.empty()) return;
  sessions_ = std::max(sessions_, source.window.session().counter);
  lost_before_ += source.window.lost();
  std::erase(held_back_, &source);
  std::erase(watched_, &source);
  const auto node = source.node;
  sources_.erase(node);
}

std::optional<EventBatch> EventIntake::take(RegistrationId id) {
  const auto at = queues_.find(id);
  if (at == queues_.end()) return {};
  RegistrationQueue& queue = at->second;
  if (queue.empty()) {
    queue.scheduled = false;
    return {};
  }
  return queue.take();
}

bool EventIntake::finish(RegistrationId id, EventBatch batch) {
  const auto at = queues_.find(id);
  if (at == queues_.end()) return true;
  at->second.finish(batch);
  if (spare_.size() < kSpareBatches && batch.events.capacity() <= 2 * kExpectAtMost) {
    batch.events.clear();
    spare_.push_back(std::move(batch.events));
  }
  return at->second.charge() <= limits::kRegistrationQueueBytes / 2;
}

void EventIntake::put_back(RegistrationId id, EventBatch batch) {
  const auto at = queues_.find(id);
  if (at != queues_.end()) at->second.put_back(std::move(batch));
}

bool EventIntake::idle() const {
  return held_back_.empty() && std::all_of(queues_.begin(), queues_.end(), [](const auto& queue) {
           return queue.second.charge() == 0;
         });
}

void EventIntake::resume(MonoTime now) {
  resume_at_ = kNever;
  const auto sources = std::exchange(held_back_, {});
  for (Source* source : sources) {
    source->window.on_progress();  // what holds it back is moving, or else it does not any more
    watch(*source);
    take_in(*source, now);
    forget(*source);
  }
}

std::vector<std::pair<NodeId, Bytes>> EventIntake::take_control(MonoTime now) {
  touched_ = false;
  auto out = std::exchange(control_, {});
  std::erase_if(watched_, [&](Source* source) {
    if (const auto state = source->window.collect(now)) {
      Bytes message;
      wire::Writer writer(message);
      writer.array(2).u64(number(wire::Kind::kLaneState));
      encode(writer, *state);
      out.emplace_back(source->node, std::move(message));
    }
    source->watched = source->window.wake_at() != kNever;
    return !source->watched;
  });
  return out;
}

MonoTime EventIntake::next_timer() const {
  auto at = resume_at_;
  for (const Source* source : watched_) at = std::min(at, source->window.wake_at());
  return at;
}

std::uint64_t EventIntake::lost_bytes() const {
  auto lost = lost_before_;
  for (const auto& [node, source] : sources_) lost += source->window.lost();
  return lost;
}

}  // namespace headrace
