// EventPlane: the best-effort events of a node, from publish() to the callbacks. It puts a lock
// around the machines of core/event, because events are too many to be handed to the loop one by
// one: a publisher writes into the frame that the loop will send, a worker takes what the loop
// decoded.
//
// Owned by the runtime; outlives its loop and its workers' use of it. Threads: publish,
// try_publish, add_registration, remove_registration, match_count, stats, close: any. run: workers.
// Everything under "the loop": the loop's thread. One mutex guards all state, for short sections:
// no callback, hook or socket is ever called under it.
//
// Blocks: publish, up to its timeout; remove_registration, while a callback of that registration
// runs on another thread; nothing else.
//
// Limits: limits::kLaneWindowBytes under way to a node, limits::kEventQueueBytes waiting for the
// sockets altogether, limits::kRegistrationQueueBytes waiting for one registration's callbacks.
// What finds no room is dropped and counted.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/event/event_intake.h"
#include "core/event/event_router.h"
#include "core/event/event_sender.h"
#include "core/event/local_registrations.h"
#include "core/peer/event_port.h"
#include "nodes/node.h"

namespace headrace::runtime {

struct EventPlaneConfig {
  NodeId self;
  Incarnation incarnation = 0;
  std::uint64_t cluster = 0;  // wire::cluster_hash of its name
};

struct EventPlaneHooks {
  std::function<MonoTime()> mono;
  std::function<WallTime()> wall;
  // Any thread.
  std::function<void()> wake;                    // the loop has work and may be asleep
  std::function<void(RegistrationId)> schedule;  // call run() once, soon, on a worker thread
  std::function<void(std::string)> note;         // for the log
  // The loop's thread, out of receive(), set_member(), flush() and tick().
  std::function<void(const NodeId&, Bytes)> send_control;  // Peer::send_event_control
  std::function<void(Bytes)> registrations_changed;        // Peer::set_registrations
};

// Counted since the start; events, unless the name says bytes.
struct EventStats {
  std::uint64_t published = 0;
  std::uint64_t sent_dropped =
      0;  // copies that did not go to a node: stalled, no room in time, node gone
  std::uint64_t received = 0;          // arrived from other nodes
  std::uint64_t delivered = 0;         // callbacks that ended
  std::uint64_t queue_dropped = 0;     // copies that found a registration's queue full
  std::uint64_t callbacks_failed = 0;  // threw
  std::uint64_t unwanted = 0;          // arrived for nobody: answered `gone`
  std::uint64_t malformed = 0;
  std::uint64_t lost_bytes = 0;  // sent to this node and never arrived
  std::size_t queued_bytes = 0;  // now: waiting for the sockets
};

class EventPlane final : public EventPort {
 public:
  using Callback = std::function<void(const Event&)>;
  using Done = std::function<void(Result<Published>)>;
  // Takes the frame if there is room for it; else leaves it alone and returns false.
  using Emit = std::function<bool(const NodeId&, Bytes& frame)>;

  EventPlane(EventPlaneConfig config, EventPlaneHooks hooks);
  ~EventPlane() override;

  // --- Any thread. `params` is an encoded ParamSet, empty for none.
  // Waits up to `timeout` for room at the destinations that are moving; a stalled one is dropped at
  // once, as is one without room in time. kInvalid: topic, sizes. kForbidden: `$sys`. kClosed.
  Result<Published> publish(std::string_view topic, BytesView params, BytesView payload,
                            Millis timeout);
  Result<Published> try_publish(std::string_view topic, BytesView params, BytesView payload);
  // An event of Headrace's own, to this node's registrations and no other node. Never blocks: what
  // finds no room in time is dropped and counted.
  void publish_system(std::string_view topic, BytesView params);
  // Nodes that an event there would go to; 0 for what is no topic.
  std::size_t match_count(std::string_view topic);

  // `topic` may be a pattern. kInvalid, kFull, kClosed.
  Result<RegistrationId> add_registration(std::string_view topic, bool sink, Callback callback);
  // True once. None of its callbacks starts afterwards; waits for one that runs, unless called
  // inside it, or inside one that it waits for itself.
  bool remove_registration(RegistrationId id);

  EventStats stats() const;
  // No event waits for a callback, and none runs.
  bool idle() const;
  // Ends all waiting with kClosed, drops what waits for callbacks, and lets none start any more.
  void close();

  // --- Workers, as asked for by schedule(): runs some callbacks of that registration, and asks
  // again if there are more.
  void run(RegistrationId id);

  // --- The loop.
  void set_member(const NodeId& node, Incarnation life, BytesView registrations) override;
  void remove_member(const NodeId& node) override;
  void receive(const job::Now& now, const NodeId& from, Incarnation life, BytesView message,
               const std::shared_ptr<const void>& frame) override;
  // The node goes on under another incarnation and meets its members anew. What was under way is
  // dropped; registrations, and what waits for their callbacks, stay.
  void restart(Incarnation incarnation);
  // As publish(), but `done` is told instead, on this thread: at once, or out of tick() or flush().
  void publish_async(std::string_view topic, BytesView params, BytesView payload, Millis patience,
                     Done done);

  // Each turn: sends control messages that are due, then hands over frames for the data lane
  // (whole, head included), the nodes taking turns. A node whose frame was refused is passed over
  // until on_room(). `spare`: memory for frames to come.
  void flush(const Emit& emit, std::vector<Bytes> spare = {});
  void on_room(const NodeId& node);
  void tick(MonoTime now);  // when next_timer() has come
  MonoTime next_timer() const;
  bool has_work() const;  // flush() would find something

  // Around a wait of the loop: if before_sleep() returns false there is work, so do not wait. While
  // the loop is awake nobody calls wake(), so that a fast publisher does not pay for one an event.
  // After a turn that sent many events it takes a nap of some 100 us first: a publisher on the same
  // CPU fills whole frames then, where it would else wake the loop for each handful of events.
  bool before_sleep();
  void after_sleep();

 private:
  // A registration's callback, and the worker that runs it.
  struct Runner {
    explicit Runner(Callback function) : callback(std::move(function)) {}

    const Callback callback;
    std::atomic<std::uint64_t> ended{0};  // callbacks
    std::atomic<bool> removed{false};     // no further one may start
    bool running = false;                 // under the lock, as is the rest
    std::thread::id worker;
    const Runner* removes = nullptr;  // another one, whose end its callback waits for
  };
  struct LocalWait {
    std::shared_ptr<EventParcel> parcel;
    EventOrigin origin;
  };
  struct Promise {  // of publish_async
    std::shared_ptr<EventParcel> parcel;
    Published published;
    MonoTime deadline{};
    Done done;
  };
  using Lock = std::unique_lock<std::mutex>;

  Result<EventSender::Offered> offer(Lock& lock, std::string_view topic, BytesView params,
                                     BytesView payload);
  std::shared_ptr<EventParcel> place_rest(const EventSender::Offered& offered, bool patient);
  void place_local(const std::shared_ptr<EventParcel>& parcel, bool may_wait, MonoTime now);
  void resume_local(MonoTime now);
  void cancel(EventParcel& parcel, MonoTime now);
  Published published(const EventSender::Offered& offered) const;
  void apply(const LocalRegistrations::Changed& changed);
  bool work() const;
  void leave(Lock& lock);
  void fulfil(Lock& lock, MonoTime now);
  bool waits_for_this_thread(const Runner& runner) const;
  void set_idle(Runner& runner);
  bool run_batch(Runner& runner, EventBatch& batch, MonoTime until);
  void run_callback(Runner& runner, const Event& event, BytesView params);
  void send(const std::vector<std::pair<NodeId, Bytes>>& messages);

  EventPlaneConfig config_;
  const EventPlaneHooks hooks_;
  std::uint64_t id_base_;  // of the ids of this node's events

  mutable std::mutex mutex_;
  std::condition_variable room_;   // publishers: something was admitted or dropped
  std::condition_variable ended_;  // removers: a worker left a registration
  EventSender sender_;
  EventRouter system_;  // of this node's registrations in `$sys`
  std::uint64_t system_seq_ = 0;
  std::unordered_map<RegistrationId, std::shared_ptr<Runner>> runners_;
  std::vector<Runner*> busy_;  // whose callbacks run
  EventIntake intake_;
  std::deque<LocalWait> local_;  // this node's events that its own registrations have no room for
  MonoTime local_at_ = kNever;   // when to try again
  std::vector<Promise> promises_;
  RegistrationId last_id_ = 0;
  bool advert_due_ = false;
  bool resume_due_ = false;
  bool asleep_ = false;
  std::size_t sent_ = 0;  // events, since the loop last looked for sleep; the loop's own
  bool closed_ = false;
  std::size_t publishing_ = 0;  // publishers that wait
  std::uint64_t local_dropped_ = 0;
  std::uint64_t local_settled_ = 0, told_settled_ = 0;  // see EventSender::settled()
  std::atomic<std::uint64_t> delivered_{0}, failed_{0};
};

}  // namespace headrace::runtime
