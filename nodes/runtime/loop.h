// Loop: hr-loop, the one thread that owns all protocol state of a node: sockets, links, the Peer.
//
// Owned by the Runtime. A turn: wait; frames, what other threads posted, timers go into the Peer;
// what comes out is carried out. The thread blocks in Transport::poll only, but for one thing:
// after a failed write the store is opened anew on it, since there is nothing that it could do
// meanwhile.
//
// Threads: open() and start() by whoever opens the node; call(), post() and wait_until() by any
// thread, from then on until join(); everything else runs on hr-loop.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include "core/peer/peer.h"
#include "nodes/runtime/board.h"
#include "nodes/runtime/calls.h"
#include "nodes/runtime/clients.h"
#include "nodes/runtime/discovery.h"
#include "nodes/runtime/event_gate.h"
#include "nodes/runtime/event_plane.h"
#include "nodes/runtime/inbox.h"
#include "nodes/runtime/links.h"
#include "nodes/runtime/member_news.h"
#include "nodes/runtime/runs.h"
#include "nodes/runtime/setup.h"
#include "nodes/runtime/storage.h"
#include "transport/transport.h"

namespace headrace::runtime {

struct LoopParts {
  const Setup& setup;
  transport::Transport& transport;
  EventPlane& plane;
  Workers& workers;  // of job handlers
  DoneQueue& done;
  Board& board;
  std::function<void(std::string)> note;
};

class Loop final : private transport::TransportEvents {
 public:
  using Task = std::function<void(Loop&)>;

  explicit Loop(LoopParts parts);
  ~Loop() override;

  // The first life of the Peer, on `storage` if the node keeps anything. kStore.
  Result<void> open(std::unique_ptr<Storage> storage, Incarnation incarnation);
  Result<void> start();
  bool started() const { return thread_.joinable(); }

  // Begins a call at the Peer. False if the loop has ended: `waiter` is not called then.
  bool call(Waiter waiter, BeginCall begin);
  bool post(Task task);
  // Until `condition`, which runs on hr-loop, holds. False if `deadline` came first, or the loop
  // has ended.
  bool wait_until(std::function<bool(Loop&)> condition, MonoTime deadline);
  // Ends the turns, after the one under way: answers what waits with kClosed, gives what was said
  // up to `flush` to leave, and joins.
  void join(Millis flush);

  // --- On hr-loop: for tasks and conditions.
  void add_consumer(std::shared_ptr<const ConsumerEntry> consumer);
  void stop_consumer(std::uint64_t key);
  void stop_consuming();  // for good
  void stop_running();    // tells the handlers
  void shut_events() { gate_.shut(); }
  void leave();
  bool jobs_idle() const;  // nothing runs, every outcome is answered, no add is open
  bool commits_idle() const { return !storage_ || submitted_ == written_; }
  bool links_idle() const { return !links_ || links_->idle(); }
  void registrations_changed(Bytes registrations);  // of the event plane
  void send_event_control(const NodeId& to, Bytes message);

 private:
  struct Call {
    Waiter waiter;
    BeginCall begin;
  };
  struct Committed {
    std::uint64_t era = 0;
    CommitReport report;
  };
  struct ReadDone {
    std::uint64_t era = 0;
    std::vector<job::Continuation> continuations;
  };
  struct StoreFailed {
    std::uint64_t era = 0;
    Error error;
  };
  struct Condition {
    std::function<bool(Loop&)> holds;
    MonoTime deadline{};
    std::shared_ptr<std::promise<bool>> answer;
  };
  using Item = std::variant<Call, JobEnded, Committed, ReadDone, StoreFailed, Condition, Task>;

  // loop.cc: a turn.
  void run();
  void turn();
  MonoTime next_deadline() const;
  void woke_up();
  void take_inbox();
  void take(Call& call);
  void take(JobEnded& ended);
  void take(Committed& committed);
  void take(ReadDone& done);
  void take(StoreFailed& failed);
  void take(Condition& condition) { conditions_.push_back(std::move(condition)); }
  void take(Task& task) { task(*this); }
  void take_own_frames();
  void tick();
  void note_starvation();
  void check_conditions();
  void finish();
  void on_frame(wire::Lane lane, const transport::RoutingId& from, transport::Frame frame) override;
  void on_room(transport::LinkId link, wire::Lane lane) override;
  void on_ended(const NodeId& node) override;
  void on_readable(int) override { discovery_.ready(); }

  // loop_actions.cc: what a turn asks for.
  void carry_out(TurnOutput output);
  void submit_reads();
  void act(Send& action);
  void act(SendEndpoint& action);
  void act(SendClient& action);
  void act(Reach& action);
  void act(Unreach& action);
  void act(StartJob& action);
  void act(StopJob& action);
  void act(AnswerCall& action);
  void act(ClientSubscribe& action);
  void act(ClientUnsubscribe& action);
  void act(ClientPublish& action);
  void act(MembersChanged&) { members_changed_ = true; }
  void act(ReadyNow&) { parts_.board.set_ready(); }
  void act(IncarnationNeeded& action);
  void act(Note& action) { parts_.note(std::move(action.text)); }
  void flush();
  void show_members();

  // loop_life.cc: the lives of the Peer.
  static std::uint64_t new_seed();
  DiscoveryOptions discovery_options() const;
  DiscoveryHooks discovery_hooks();
  Result<void> begin_life(Incarnation incarnation);
  Storage::Reports reports();
  PeerConfig peer_config(Incarnation incarnation) const;
  void end_life(const Error& why);
  void live_on();
  Result<void> open_again();

  const LoopParts parts_;
  EventGate gate_;
  Inbox<Item> inbox_;
  std::thread thread_;
  bool ending_ = false;
  Millis last_flush_{0};

  // One life of the Peer. All of it is void while the store is being opened again.
  std::uint64_t era_ = 0;
  std::unique_ptr<Storage> storage_;
  std::optional<Links> links_;
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Clients> clients_;
  CommitNumber submitted_ = 0;
  CommitNumber written_ = 0;
  std::vector<Read> waiting_reads_;  // for their commit; in order
  std::optional<wire::FrameBuilder> own_mail_[2];
  std::optional<Error> life_ends_;  // why this turn is the Peer's last
  Incarnation above_ = 0;           // what the next incarnation must exceed
  Error down_;                      // while there is no Peer: why
  MonoTime open_again_at_ = kNever;
  Millis open_again_pause_{0};

  Discovery discovery_;
  std::uint64_t starved_ = 0;  // dials without descriptors that were noted
  Runs runs_;
  Calls calls_;
  Bytes registrations_;
  bool consuming_ = true;
  std::vector<Condition> conditions_;

  // The turn.
  job::Now now_;
  MonoTime slept_at_{};
  MonoTime due_{};
  bool awake_ = false;
  bool again_ = false;  // there is input already for the next turn
  unsigned ticks_put_off_ = 0;
  bool members_changed_ = true;
  MonoTime show_members_at_{};
  MemberNews member_news_;
  std::vector<Item> items_;
  std::vector<Bytes> gone_clients_;
};

}  // namespace headrace::runtime
