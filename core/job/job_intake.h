// The consumers of one node: takes in dispatched jobs under a window, hands them to slots, keeps what they ended in
// until the owner has it.
//
// Owned by the Peer; called by its thread. Nothing on disk: what a consumer holds ends with its process, and the
// owner hands it out again.
//
// A job is waiting, running, or finished and unanswered. The states of the window list all of these, which is the
// lease renewal. Completions are repeated until answered. What is held of an owner's earlier life is claimed by
// token, since the window with that life is over.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/flow/auto_marks.h"
#include "core/flow/window_receiver.h"
#include "core/job/host.h"
#include "core/topic/topic_pattern.h"
#include "core/wire/job.h"

namespace headrace::job {

// How long an owner waits for a word of a job it gave away.
inline constexpr std::chrono::seconds kLease{30};

using ConsumerNumber = std::uint32_t;
using RunId = std::uint64_t;

// A job in the hands of a consumer.
struct HeldJob {
  SenderKey from;
  Incarnation life = 0;  // of the owner, when it sent the job
  wire::ItemId item;
  wire::Token token;
  std::uint64_t number = 0;
  JobId id;
  std::string topic;
  unsigned attempt = 1;
  unsigned deliveries = 1;
  Bytes params;
  Bytes payload;
};

class IntakeHost {
 public:
  virtual ~IntakeHost() = default;
  virtual void send(const NodeId& to, wire::Lane lane, Bytes message) = 0;
  // Run it in one of the consumer's slots, in order, as soon as one is free; JobIntake::ended() follows. The job stays
  // valid until then.
  virtual void start(ConsumerNumber consumer, RunId run, std::shared_ptr<const HeldJob> job) = 0;
  // Its result will not count: tell the handler.
  virtual void set_stopping(RunId run) = 0;
};

struct ConsumerAdvert {
  ConsumerNumber number = 0;
  std::string topics;  // a topic or a pattern
  unsigned parallel = 1;
};

struct ConsumerConfig {
  TopicPattern topics;
  unsigned parallel = 1;
  std::optional<Marks> marks;  // unset: automatic
};

class JobIntake final {
 public:
  JobIntake(IntakeHost& host, Incarnation self) : host_(host), self_(self) {}

  ConsumerNumber add_consumer(ConsumerConfig config);
  // Takes in nothing more and hands back what has not started; what runs goes on, and is answered for.
  void stop_consumer(ConsumerNumber number);
  void stop_all();
  // Runs that were handed over and will never begin: their jobs go back uncharged.
  void not_started(const std::vector<RunId>& runs);
  // The node leaves: what still runs goes back uncharged, and how it ends is told to nobody.
  void give_up_runs();
  std::vector<ConsumerAdvert> adverts() const;  // of those that take jobs
  // True once nothing runs and every completion is answered.
  bool idle() const { return running_.empty() && completions_.empty(); }
  std::size_t running() const { return running_.size(); }

  // Mail of an owner. `life` is the sending node's incarnation. The payload of a job comes resolved.
  void on_item(const Now& now, const NodeId& from, Incarnation life, const wire::JobItem& item, Bytes payload);
  void on_mark(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
               const wire::Mark& mark);
  void on_announce(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
                   const wire::Announce& announce);
  void on_over(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
               const wire::WindowOver& over);
  void on_done_ack(const Now& now, const NodeId& from, Incarnation life, const wire::JobDoneAck& ack);
  void on_claims_ack(const Now& now, const NodeId& from, Incarnation life, const wire::JobClaimsAck& ack);

  // The handler of `run` has returned after `took`.
  void ended(const Now& now, RunId run, JobEnd end, Nanos took);

  // What membership says.
  void on_dead(const NodeId& node);
  void on_incarnation(const NodeId& node, Incarnation life);
  void forget(const NodeId& node);

  // Once a turn, after its inputs: grants, states, starts.
  void end_turn(const Now& now);
  void tick(const Now& now);
  MonoTime next_timer() const;
  // The loop stood still that long: it is not the owners who were silent.
  void held_up(Nanos duration);

  // For tests and checkers: unfinished jobs of a consumer, and its marks.
  std::uint64_t occupancy(ConsumerNumber number) const { return consumers_.at(number).window.occupancy(); }
  Marks marks(ConsumerNumber number) const { return consumers_.at(number).window.marks(); }

 private:
  struct Consumer {
    ConsumerConfig config;
    WindowReceiver window;
    AutoMarks automatic;
    std::deque<std::shared_ptr<HeldJob>> waiting;
    unsigned running = 0;
    bool stopped = false;
    unsigned quiet = 0;  // periods since it was stopped and has held nothing
  };
  struct Running {
    ConsumerNumber consumer = 0;
    std::shared_ptr<HeldJob> job;
    bool stopping = false;
    bool refused = false;  // the owner has said that its token is not current
  };
  struct Completion {
    ConsumerNumber consumer = 0;
    std::shared_ptr<HeldJob> job;  // without payload
    Bytes message;
    wire::Lane lane = wire::Lane::kControl;
    MonoTime repeat{};
    Nanos pause{};
  };
  struct TokenHash {
    std::size_t operator()(const wire::Token& token) const {
      return static_cast<std::size_t>(token.life ^ token.number * 0x9E3779B97F4A7C15ULL);
    }
  };
  struct Owner {
    Incarnation life = 0;
    MonoTime heard{};
    bool claims_due = false;
    MonoTime claims_at{};
  };

  Owner& hear(const Now& now, const NodeId& from, Incarnation life);
  void start_waiting(ConsumerNumber number, Consumer& consumer);
  void collect(const Now& now, ConsumerNumber number, Consumer& consumer);
  template <typename Fits>
  std::vector<RunId> runs_that(Fits&& fits) const;
  void refuse(RunId run);
  void hand_back(const std::vector<std::shared_ptr<HeldJob>>& jobs);
  void send_claims(const Now& now, const NodeId& to, Owner& owner);
  void answered(const Now& now, const wire::Token& token, bool accepted);
  void repeat_completions(const Now& now);
  void watch_leases(const Now& now);

  IntakeHost& host_;
  Incarnation self_;
  ConsumerNumber last_number_ = 0;
  RunId last_run_ = 0;
  std::map<ConsumerNumber, Consumer> consumers_;
  std::unordered_map<RunId, Running> running_;
  std::unordered_map<wire::Token, Completion, TokenHash> completions_;
  std::map<NodeId, Owner> owners_;
  MonoTime next_period_ = kNever;
  MonoTime next_repeat_ = kNever;
};

}  // namespace headrace::job
