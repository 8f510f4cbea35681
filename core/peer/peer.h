// Peer: a whole node as one state machine. It composes membership, the owner's and the consumer's side of jobs, and
// calls, and hands each input to the part that owns it.
//
// Owned by a node (nodes/runtime) or by the simulator; called by one thread. Nothing blocks, reads a clock, or
// touches a socket or a disk: time comes in, actions go out. A turn: any number of inputs, then one end_turn(), whose
// output is carried out. Everything that the inputs of a turn changed is one commit.
//
// Call tick() when next_timer() has come, after the input that was waiting; held_up() if the thread stood still.
// After a failed write there is no going on: end the Peer and open another on the reopened store.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/job/job_intake.h"
#include "core/job/job_owner.h"
#include "core/member/membership.h"
#include "core/peer/actions.h"
#include "core/peer/caller.h"
#include "core/peer/commit_gate.h"
#include "core/peer/event_port.h"
#include "core/wire/blob.h"
#include "core/wire/call.h"

namespace headrace {

struct PeerConfig {
  NodeId id;
  Incarnation incarnation = 0;
  std::uint64_t seed = 0;                // of its random choices; a node draws it, a simulation sets it
  std::string name;
  std::string cluster = "default";
  std::string control_endpoint;
  std::string data_endpoint;
  std::map<std::string, std::string> tags;
  std::vector<std::string> seeds;        // control endpoints to join through
  std::vector<std::string> remembered;   // of an earlier start
  std::string owner;                     // without a store: who takes durable calls; empty: the first seed that has one
  bool has_store = false;
  bool reopened = false;                 // by this process, after a failed write
  job::Retention retention;
};

class Peer final : private job::Host, private job::IntakeHost {
 public:
  // `events` must outlive this.
  Peer(PeerConfig config, EventPort& events);
  ~Peer() override;

  // Once, first. `store` as it is; null without one. kStore.
  Result<void> open(const job::Now& now, const Snapshot* store);

  // --- Inputs from the world.
  // A frame that arrived. `client`: the routing id if it came from a client, else empty. `hold` keeps the bytes.
  void on_frame(const job::Now& now, wire::Lane lane, BytesView client, BytesView frame,
                const std::shared_ptr<const void>& hold);
  void on_commit(const job::Now& now, CommitNumber written, CommitNumber synced);
  void on_read(const job::Now& now, const job::Continuation& continuation);
  void on_job_ended(const job::Now& now, job::RunId run, JobEnd end, Nanos took);
  void on_refused(const job::Now& now, const NodeId& node);  // its connection was redialled and refused
  void on_heard_of(const job::Now& now, const NodeId& node, const std::string& endpoint);  // by its beacon
  void on_client_gone(const job::Now& now, BytesView client);
  void held_up(const job::Now& now, Nanos duration);
  void set_room(bool room) { room_ = room; }                 // the store takes new work
  void tick(const job::Now& now);

  // --- Calls of this node's own program. Each is answered once by AnswerCall, at `deadline` at the latest.
  // All or none. Adds get an id here unless they bring one. `look_up`: they may have been added before. kNever as
  // deadline: the answer takes as long as the store does.
  void add_jobs(const job::Now& now, CallNumber call, std::vector<job::NewJob> jobs, MonoTime deadline,
                bool look_up = false);
  void get_job(const job::Now& now, CallNumber call, const JobId& id, MonoTime deadline);
  void find_jobs(const job::Now& now, CallNumber call, JobFilter filter, MonoTime deadline);
  void wait_job(const job::Now& now, CallNumber call, const JobId& id, MonoTime deadline);  // until it has ended
  void forget_call(CallNumber call);

  job::ConsumerNumber add_consumer(const job::Now& now, job::ConsumerConfig config);
  void stop_consumer(const job::Now& now, job::ConsumerNumber consumer);
  // What this node's event plane holds registered, as an advert's part.
  void set_registrations(const job::Now& now, Bytes registrations);

  void client_event(std::uint64_t subscription, const wire::ClientEvent& event);
  void client_published(std::uint64_t publish, const Result<wire::PublishedBody>& result);
  // Of the event plane, to a node on the control lane.
  void send_event_control(const NodeId& to, Bytes message);

  // Hands back what has not started and takes no more. Then, when idle() or in need: leave(), which hands back what
  // still runs.
  void stop_consuming(const job::Now& now);
  // Of a consumer that is stopped: runs that were handed over and will never begin.
  void not_started(const job::Now& now, const std::vector<job::RunId>& runs);
  bool idle() const { return intake_.idle(); }
  void leave(const job::Now& now);

  // --- Once after the inputs of a turn.
  TurnOutput end_turn(const job::Now& now);
  MonoTime next_timer(const job::Now& now) const;

  // --- What it knows.
  bool ready() const { return membership_.ready(); }
  std::size_t live_members() const { return membership_.live(); }  // this one included
  std::vector<wire::MemberRow> members(const job::Now& now) const;
  const PeerConfig& config() const { return config_; }
  const job::JobIntake& intake() const { return intake_; }
  const job::JobOwner* owner() const { return owner_.get(); }
  std::uint64_t bad_frames() const { return bad_frames_; }
  std::uint64_t unknown_kinds() const { return unknown_kinds_; }
  std::uint64_t strange_mail() const { return strange_mail_; }

  // The store has failed: what becomes of the calls that wait. Adds that were taken are unknown, others were not done.
  std::vector<AnswerCall> abandon(const Error& why);

 private:
  struct Call {
    Caller caller;
    MonoTime deadline = kNever;
    bool adds = false;
    std::vector<JobId> ids;                        // of an add, as far as they are known
    std::optional<JobId> waits;                    // for this job's end
    std::function<void(const NodeId& owner, bool repeat)> ask;  // of a call that another node answers
    MonoTime ask_at = kNever;
    bool asked = false;           // at least once: an add may be stored
  };
  struct Client {
    MonoTime heard{};
    std::map<std::uint64_t, std::uint64_t> subscriptions;  // the client's number to ours
  };

  // job::Host and job::IntakeHost.
  WriteBatch& batch(Level level) override;
  void send(const NodeId& to, wire::Lane lane, Bytes message, job::After after) override;
  void read(job::ReadTask task) override;
  std::uint64_t next_blob() override { return ++last_blob_; }
  void note(std::string text) override { act(Note{std::move(text)}); }
  void added(job::Ticket ticket, Result<std::vector<JobId>> ids, Level level) override;
  void ended(const job::Job& job) override;
  void send(const NodeId& to, wire::Lane lane, Bytes message) override;
  void start(job::ConsumerNumber consumer, job::RunId run, std::shared_ptr<const job::HeldJob> job) override;
  void set_stopping(job::RunId run) override { act(StopJob{run}); }

  void act(Action action, job::After after = job::After::kNothing);

  // peer_members.cc
  void measure_round_trip();
  void follow_membership(const job::Now& now);
  void follow(const job::Now& now, SendMember& send);
  void follow(const job::Now& now, const MemberChanged& change);
  void follow(const job::Now& now, const MemberRestarted& restart);
  void follow(const job::Now& now, const AdvertChanged& change);
  void reach(const NodeId& node);
  void publish_advert(const job::Now& now);
  void remember_peers();

  // peer_mail.cc
  void on_client_mail(const job::Now& now, BytesView client, BytesView message);
  void on_node_mail(const job::Now& now, const NodeId& from, Incarnation life, BytesView message);
  bool on_job_mail(const job::Now& now, const NodeId& from, Incarnation life, wire::Kind kind, wire::Reader& in);
  bool take_blob(const Bytes& source, wire::Reader& in);
  std::optional<Bytes> payload_of(const Bytes& source, const wire::PayloadRef& ref);

  // peer_served.cc
  bool on_call(const job::Now& now, const Caller& caller, wire::Kind kind, wire::Reader& in, const Bytes& source);
  template <typename Call>
  void serve(const job::Now& now, Caller caller, wire::Reader& in, const Bytes& source);
  std::optional<job::Ticket> under_way(const Caller& caller) const;
  bool admits(const Caller& caller);
  bool can_answer(const Caller& caller);
  void wait_on(const job::Now& now, job::Ticket ticket, Nanos patience);
  void on(const job::Now& now, Caller caller, const wire::CallHello& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallMembers& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallAddJobs& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallGetJob& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallFindJobs& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallWaitJob& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallPublish& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallSubscribe& call, const Bytes& source);
  void on(const job::Now& now, Caller caller, const wire::CallUnsubscribe& call, const Bytes& source);

  // peer_calls.cc
  void add(const job::Now& now, Caller caller, std::vector<job::NewJob> jobs, MonoTime deadline, bool look_up);
  void get(const job::Now& now, Caller caller, const JobId& id, MonoTime deadline);
  void find(const job::Now& now, Caller caller, JobFilter filter, MonoTime deadline);
  void wait(const job::Now& now, Caller caller, const JobId& id, MonoTime deadline);
  job::Ticket open_call(Caller caller, MonoTime deadline);
  void close_call(job::Ticket ticket, Result<Answer> answer, job::After after = job::After::kNothing);
  void reply(const Caller& caller, const Result<Bytes>& body, job::After after = job::After::kNothing);
  void look_at(const job::Now& now, job::Ticket ticket, const JobId& id);
  void search(const job::Now& now, job::Ticket ticket, JobFilter filter);
  void check_calls(const job::Now& now);
  void drop_silent_clients(const job::Now& now);
  void drop_waiter(job::Ticket ticket, const JobId& id);

  // peer_owner.cc
  void on_reply(const job::Now& now, wire::Reader& in, const Bytes& source);
  void forward(const job::Now& now, job::Ticket ticket, std::function<void(const NodeId&, bool)> ask);
  void ask(const job::Now& now, Call& call);
  std::optional<NodeId> owner_node();
  std::optional<NodeId> choose_owner() const;

  PeerConfig config_;
  EventPort& events_;
  Random random_;
  Membership membership_;
  job::JobIntake intake_;
  std::unique_ptr<job::JobOwner> owner_;  // with a store
  CommitGate gate_;

  std::vector<std::pair<Action, job::After>> turn_;  // what this turn has asked for
  WriteBatch batch_;                      // of this turn
  Level batch_level_ = Level::kOs;
  CommitNumber last_commit_ = 0;
  std::vector<Read> reads_;
  std::uint64_t last_blob_ = 0;
  Bytes registrations_;
  bool advert_due_ = false;
  bool members_changed_ = false;
  std::map<NodeId, Nanos> round_trips_;   // of pings, smoothed
  bool was_ready_ = false;
  bool room_ = true;

  job::Ticket last_ticket_ = 0;
  std::unordered_map<job::Ticket, Call> calls_;
  std::map<Bytes, std::unordered_map<std::uint64_t, job::Ticket>> open_;  // of others, by source and their number
  std::multimap<MonoTime, job::Ticket> deadlines_;
  std::unordered_map<JobId, std::vector<job::Ticket>> waiters_;
  std::map<Bytes, Client> clients_;
  std::unordered_map<std::uint64_t, std::pair<Bytes, std::uint64_t>> subscriptions_;  // ours to client and its number
  std::uint64_t last_subscription_ = 0;
  std::unordered_map<std::uint64_t, Caller> publishes_;
  std::uint64_t last_publish_ = 0;
  std::map<Bytes, wire::BlobAssembler> blobs_;  // by source
  MonoTime next_call_check_ = kNever;
  std::optional<NodeId> chosen_owner_;    // who takes this node's durable calls

  std::uint64_t bad_frames_ = 0;
  std::uint64_t unknown_kinds_ = 0;
  std::uint64_t strange_mail_ = 0;        // for another node or life, or of no member
};

}  // namespace headrace
