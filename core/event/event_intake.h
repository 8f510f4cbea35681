// EventIntake: the subscriber's end of best-effort events: frames come in under the byte window of
// the link, events go into the queues of the registrations that they are offered to.
//
// Owned by a node's event plane, which locks around it, or by the simulator's. No clock, no
// threads. No event is copied: queues look into the frame, which they keep alive.
//
// Bytes leave the window when the event is in all of its queues. A full queue holds the window back
// while its callbacks get somewhere (RegistrationQueue::moving); otherwise the event is dropped for
// that registration alone. What is held back goes on by resume().
//
// Limits: the window of each link; limits::kRegistrationQueueBytes a queue; one payload in pieces a
// link.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/event/local_registrations.h"
#include "core/event/registration_queue.h"
#include "core/flow/byte_window.h"
#include "core/wire/blob.h"
#include "core/wire/event_frame.h"

namespace headrace {

class EventIntake final {
 public:
  // Callbacks of a registration that have ended so far. Asked when its queue is full.
  using Ended = std::function<std::uint64_t(RegistrationId)>;
  enum class Placed : std::uint8_t {
    kTaken,     // in at least one queue
    kNoRoom,    // in none: a queue is full, and moving
    kDropped,   // in none: all queues are full, and none moves
    kUnwanted,  // offered to nobody
  };
  struct Counts {
    std::uint64_t received = 0;  // events from other nodes
    std::uint64_t dropped = 0;   // copies that found a queue full
    std::uint64_t unwanted = 0;
    std::uint64_t malformed = 0;  // frames and events
    std::uint64_t lost = 0;       // events whose payload did not arrive whole
  };

  EventIntake(Incarnation self, Ended ended) : self_(self), ended_(std::move(ended)) {}

  // Under another incarnation: what has not reached a queue is lost, registrations and queues stay.
  void restart(Incarnation self);

  const LocalRegistrations& registrations() const { return registrations_; }
  const RegistrationAdvert& advert() { return registrations_.advert(); }
  Result<LocalRegistrations::Changed> add(LocalRegistration registration);
  // What waits in its queue is dropped.
  Result<LocalRegistrations::Changed> remove(RegistrationId id);

  // An event of this node itself.
  Placed place(const EventOrigin& origin, const wire::Event& event, MonoTime now);

  // From other nodes.
  void on_frame(const NodeId& from, Incarnation life, const wire::EventFrame& frame,
                const std::shared_ptr<const void>& hold, MonoTime now);
  void on_mark(const NodeId& from, Incarnation life, const wire::LaneMark& mark);
  void on_query(const NodeId& from, Incarnation life, const wire::LaneQuery& query);
  // No member any more: its window ends. What arrived is still delivered.
  void remove_member(const NodeId& node);
  void count_malformed() { ++counts_.malformed; }

  // Registrations whose queue was empty and is not: somebody must take() from it.
  std::vector<RegistrationId> take_runnable() { return std::exchange(runnable_, {}); }
  bool has_runnable() const { return !runnable_.empty(); }
  // Until it gives nothing: then the registration may become runnable again.
  std::optional<EventBatch> take(RegistrationId id);
  // All callbacks of the batch have run, or will not. True if there is so much room now that going
  // on with what is held back is worth it.
  bool finish(RegistrationId id, EventBatch batch);
  void put_back(RegistrationId id, EventBatch batch);
  bool idle() const;  // nothing waits, and nothing was taken without being finished

  bool holds_back() const { return !held_back_.empty(); }
  // Takes in what was held back, as far as there is room now. Call it when finish() says so, and at
  // next_timer().
  void resume(MonoTime now);
  // Messages for the control lane.
  std::vector<std::pair<NodeId, Bytes>> take_control(MonoTime now);
  bool has_control() const { return !control_.empty() || touched_; }
  MonoTime next_timer() const;

  const Counts& counts() const { return counts_; }
  std::uint64_t lost_bytes() const;

 private:
  struct Pending {
    EventOrigin origin;
    BytesView rest;  // messages not yet taken in
  };
  // A payload that came in pieces, and the frame of its event.
  struct Whole {
    std::shared_ptr<const void> frame;
    Bytes payload;
  };
  struct Source {
    Source(const NodeId& id, Incarnation self, std::uint64_t sessions);

    NodeId node;
    Incarnation life = 0;
    ByteWindowReceiver window;
    wire::BlobAssembler blobs;
    std::shared_ptr<const Whole> whole;  // of the event at the front, if it came in pieces
    std::deque<Pending> pending;         // held back, but for the frame under way
    std::unordered_set<std::string> told_gone;
    bool member = true;
    bool watched = false;
  };

  Source& source(const NodeId& node, Incarnation life);
  void watch(Source& source);
  void forget(Source& source);
  const std::vector<RegistrationQueue*>& offered(std::string_view topic, unsigned depth);
  Placed place(const EventOrigin& origin, const wire::Event& event, std::size_t expect,
               MonoTime now);
  void take_in(Source& source, MonoTime now);
  bool take_in(Source& source, Pending& pending, MonoTime now);
  bool take_event(Source& source, const EventOrigin& origin, wire::Event& event, std::size_t expect,
                  MonoTime now);
  void answer_gone(Source& source, const wire::Event& event);
  void registrations_changed();

  Incarnation self_;
  Ended ended_;
  LocalRegistrations registrations_;
  std::unordered_map<RegistrationId, RegistrationQueue> queues_;
  std::unordered_map<NodeId, std::unique_ptr<Source>> sources_;
  std::vector<Source*> held_back_;
  std::vector<Source*> watched_;  // whose window may have something to say
  std::vector<RegistrationId> runnable_;
  std::vector<std::pair<NodeId, Bytes>> control_;
  std::vector<std::vector<wire::Event>> spare_;  // memory of finished batches
  bool touched_ = false;
  MonoTime resume_at_ = kNever;
  std::uint64_t sessions_ = 0;     // opened to any sender that was forgotten: the most
  std::uint64_t lost_before_ = 0;  // bytes, of senders that were forgotten
  Counts counts_;

  // The last answer: events of one topic come in runs.
  std::string topic_;
  unsigned depth_ = 0;
  std::vector<RegistrationQueue*> offered_;  // empty: anew
};

}  // namespace headrace
