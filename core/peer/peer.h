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
  void on_job_ended(const job::Now& now, job::RunId run, JobEnd end);
  void on_refused(const job::Now& now, const NodeId& node);  // its connection was redialled and refused
  void on_client_gone(const job::Now& now, BytesView client);
  void held_up(const job::Now& now, Nanos duration);
  void set_room(bool room) { room_ = room; }                 // the store takes new work
  void tick(const job::Now& now);

  // --- Calls of this node's own program. Each is answered once by AnswerCall, at `deadline` at the latest.
  // All or none. Adds get an id here unless they bring one. `look_up`: they may have been added before.
  void add_jobs(const job::Now& now, CallNumber call, std::vector<job::NewJob> jobs, MonoTime deadline);
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

  // Hands back what has not started and takes no more. Then, when idle() or in need: leave().
  void stop_consuming(const job::Now& now);
  bool idle() const { return intake_.idle(); }
  void leave(const job::Now& now);

  // --- Once after the inputs of a turn.
  TurnOutput end_turn(const job::Now& now);
  MonoTime next_timer(const job::Now& now) const;

  // --- What it knows.
  bool ready() const { return membership_.ready(); }
  std::vector<wire::MemberRow> members() const;
  const PeerConfig& config() const { return config_; }
  const job::JobIntake& intake() const { return intake_; }
  const job::JobOwner* owner() const { return owner_.get(); }
  std::uint64_t bad_frames() const { return bad_frames_; }
  std::uint64_t unknown_kinds() const { return unknown_kinds_; }
};

}  // namespace headrace
