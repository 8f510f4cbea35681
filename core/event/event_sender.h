// EventSender: the publisher's end of best-effort events: where each goes (EventRouter), and a lane
// to each of those nodes.
//
// Owned by a node's event plane, which locks around it, or by the simulator's. No clock: only what
// finds no room needs the time, so offer() goes without. Each event is encoded once.
//
// publish = offer(); then, for the nodes without room, wait() or drop(). What waits gets in when
// the lane moves, in the order of the publisher, or is dropped when the lane stalls, or by
// cancel(). After each call: has_frames(), take(), take_control().
//
// Limits: the window of each lane; limits::kEventQueueBytes in all frames: beyond that each lane
// has an equal share, so that the largest pays first.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/event/event_lane.h"
#include "core/event/event_router.h"
#include "core/wire/window.h"

namespace headrace {

class EventSender final {
 public:
  struct Self {
    NodeId node;
    Incarnation life = 0;
    std::uint64_t cluster = 0;  // wire::cluster_hash of its name
  };
  struct Offered {
    wire::Event event;               // numbered; views are the caller's
    bool local = false;              // this node is a destination too: the caller's to deliver
    std::uint32_t destinations = 0;  // this one included
    std::vector<NodeId> without_room;
  };

  explicit EventSender(const Self& self) : self_(self), router_(self.node) {}
  // Under another incarnation, knowing no member; numbers go on.
  void restart(Incarnation life);

  EventRouter& router() { return router_; }

  // kInvalid: the topic, or something is too large; then nothing was done.
  Result<Offered> offer(std::string_view topic, BytesView params, BytesView payload, WallTime time);
  // Those that move wait for room; the others are counted in `parcel.dropped`.
  void wait(const std::vector<NodeId>& without_room, const std::shared_ptr<EventParcel>& parcel,
            MonoTime now);
  void drop(const Offered& offered, MonoTime now);
  // It waits no longer: destinations without room by now are dropped.
  void cancel(EventParcel& parcel, MonoTime now);

  // A member and what it registers. kProtocol if the advert is none: the old one stands.
  Result<void> set_member(const NodeId& node, Incarnation life, BytesView advert);
  void remove_member(const NodeId& node, MonoTime now);
  void on_state(const NodeId& node, const wire::LaneState& state, MonoTime now);

  bool has_frames() const { return !ready_.empty(); }
  bool has_control() const { return !due_.empty(); }
  // The nodes take turns.
  std::optional<EventFrameOut> take(MonoTime now);
  // The socket did not take it, nor will it take another before on_room().
  void put_back(EventFrameOut frame, MonoTime now);
  // Memory for frames to come.
  void add_spare(std::vector<Bytes> buffers);
  void on_room(const NodeId& node);
  // Messages for the control lane. Marks join the frames.
  std::vector<std::pair<NodeId, Bytes>> take_control();

  void tick(MonoTime now);
  MonoTime next_timer() const;

  std::uint64_t offered() const { return seq_; }      // events
  std::uint64_t dropped() const { return dropped_; }  // copies
  std::uint64_t settled() const { return settled_; }  // copies that waited, and do no more
  std::size_t queued_bytes() const { return queued_; }

 private:
  // Where events of a topic go.
  struct Aim {
    std::string topic;  // empty: nothing is known
    std::uint64_t changes = 0;
    unsigned depth = 0;
    bool local = false;
    std::vector<EventLane*> lanes;
  };

  Result<const Aim*> aim(std::string_view topic);
  EventLane* find(const NodeId& node);
  EventLane& open_lane(const NodeId& node, Incarnation life);
  void close_lane(EventLane& lane);
  bool has_place(const EventLane& lane, std::size_t cost) const;
  template <typename Add>
  void fill(EventLane& lane, Add&& add);
  void set_ready(EventLane& lane);
  void set_due(EventLane& lane);
  void promote(EventLane& lane, MonoTime now);
  void promote_all(MonoTime now);
  void drop_waiting(EventLane& lane);
  void collect(EventLane& lane, std::vector<std::pair<NodeId, Bytes>>& out);
  void on_period(MonoTime now);

  Self self_;
  EventRouter router_;
  std::vector<Bytes> spare_;
  Aim aim_;  // of the last event: those of one topic come in runs
  std::unordered_map<NodeId, std::unique_ptr<EventLane>> lanes_;
  std::deque<EventLane*> ready_;     // with frames, and not refused
  std::vector<EventLane*> due_;      // with mail, perhaps
  std::vector<EventLane*> waiting_;  // with events that wait
  std::uint64_t seq_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t settled_ = 0;
  std::size_t queued_ = 0;
  bool beat_ = false;  // a lane needs its periods
  MonoTime period_at_ = kNever;
  MonoTime look_at_{};  // at the lanes that are waited for
};

}  // namespace headrace
