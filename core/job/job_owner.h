// The jobs of which this node is the owner: their states, their rows, who runs them.
//
// Owned by the Peer; called by its thread; nothing blocks: rows go into the turn's batch and what must be read
// comes back as an input. The owner alone changes a job. Each change of state is one batch; nothing leaves before
// the batch it depends on (job/host.h).
//
// A job goes: add -> QUEUED (or ACTIVE at once if a consumer has credit: one batch) -> ACTIVE under a token ->
// an end, or back. A completion counts only with the token of the current dispatch; the last one accepted is on
// record, so that a repeat gets its first answer. Dispatches that end without a word count towards
// limits::kDeliveries, what a consumer hands back unrun does not.
//
// At open(), dispatches on record keep their tokens and get a fresh lease: their consumers claim them or not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/flow/window_sender.h"
#include "core/job/delayed_set.h"
#include "core/job/history.h"
#include "core/job/host.h"
#include "core/job/job_intake.h"
#include "core/job/lookup.h"
#include "core/job/ready_queue.h"
#include "core/job/topic_table.h"

namespace headrace::job {

struct OwnerConfig {
  NodeId self;
  Incarnation incarnation = 0;
  std::uint64_t life = 0;         // of tokens; random, never 0
  Retention retention;
};

// A job to be added, checked (check_new) and with its parameters encoded.
struct NewJob {
  std::optional<JobId> id;        // made by the caller's side
  std::string topic;
  std::uint8_t priority = 4;
  std::optional<WallTime> not_before;
  std::uint32_t max_attempts = 10;
  Level level = Level::kDisk;
  Bytes params;
  Bytes payload;
};
// kInvalid, naming the value and the rule.
Result<void> check_new(const NewJob& job);

class JobOwner final {
 public:
  JobOwner(Host& host, Random& random, OwnerConfig config)
      : host_(host), random_(random), config_(config), history_(config.retention) {}

  // Once, first: what the store holds. kStore if it cannot be read.
  Result<void> open(const Now& now, const Snapshot& snapshot);

  // All of `jobs` or none; Host::added for `ticket` with their ids. `look_up`: the caller may have added
  // them before, so ids are looked up on disk too.
  void add(const Now& now, Ticket ticket, std::vector<NewJob> jobs, bool look_up);

  // The consumers of a node, all of them, whenever its advert or incarnation changes.
  void set_consumers(const Now& now, const NodeId& node, Incarnation life, const std::vector<ConsumerAdvert>& consumers);
  void on_dead(const Now& now, const NodeId& node);
  void forget(const Now& now, const NodeId& node);  // it is no member any more
  void on_alive(const NodeId& node);
  // A new incarnation: what the earlier one held is over.
  void on_restarted(const Now& now, const NodeId& node, Incarnation life);

  void on_state(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
                const wire::WindowState& state);
  void on_done(const Now& now, const NodeId& from, Incarnation life, const wire::JobDone& done);
  void on_hand_back(const Now& now, const NodeId& from, const wire::JobHandBack& back);
  void on_claims(const Now& now, const NodeId& from, Incarnation life, const wire::JobClaims& claims);

  // Once a turn, after its inputs: dispatches, writes what is left, answers.
  void end_turn(const Now& now);
  void tick(const Now& now);
  // When tick() has something to do by either clock.
  MonoTime next_timer(const Now& now) const;
  // The loop stood still that long: no lease runs out for it.
  void held_up(Nanos duration);

  // What memory knows without a read: jobs of level memory and what ended a moment ago.
  std::optional<JobInfo> info_in_memory(const Now& now, const JobId& id) const;
  std::vector<JobInfo> find_in_memory(const Now& now, const JobFilter& filter) const;
  // Where to look on disk: the number, if `id` tells it.
  std::optional<std::uint64_t> number_of(const JobId& id) const;
  const TopicNames& topics() const { return topics_.texts(); }

  struct Counts {
    std::uint64_t active = 0, ready_in_memory = 0, refused_completions = 0, dispatched = 0, taken_back = 0;
  };
  Counts counts() const;

 private:
  using ConsumerKey = std::pair<NodeId, ConsumerNumber>;
  struct Consumer {
    Incarnation life = 0;
    TopicPattern topics;
    WindowSender window;
    std::vector<std::uint32_t> matching;  // topic numbers
    std::uint64_t loading = 0;            // dispatched, their payloads being read
    MonoTime heard{};
    bool retired = false;                 // gone from the advert: ends what it has, gets nothing more
    bool silent = false;                  // its lease lapsed and it has said nothing since: asked, given nothing
    bool passed_over = false;             // in this turn, for want of credit
    std::uint64_t credit() const {
      return !silent && window.credit() > loading ? window.credit() - loading : 0;
    }
  };
  struct Active {
    JobPtr job;
    Dispatch dispatch;
    wire::ItemId item;            // in the window of the consumer; not set while loading or recovered
    bool recovered = false;       // found at open
    MonoTime lease = kNever;      // of a recovered one; else the consumer's window has it
  };
  struct Waiting {                // an add whose ids are being looked up
    Ticket ticket = 0;
    std::vector<NewJob> jobs;
  };

  // job_add.cc
  void admit(const Now& now, Ticket ticket, std::vector<NewJob> jobs);
  void look_up(const Now& now, Ticket ticket, std::vector<NewJob> jobs);
  JobPtr make_job(const Now& now, NewJob spec);
  std::optional<Error> lacks_memory(const std::vector<NewJob>& jobs) const;
  void reserve_numbers();
  std::optional<std::uint64_t> own_number(const JobId& id) const;
  bool of_earlier_life(const JobId& id) const;
  bool known(const JobId& id) const;
  void write_rows(Job& job);
  void write_job(const Job& job);
  void enqueue(JobPtr job);
  void delay(JobPtr job);

  // job_dispatch.cc
  void match_topics(const ConsumerKey& key, Consumer& consumer);
  void unmatch_topics(const ConsumerKey& key, Consumer& consumer);
  void dispatch_all(const Now& now);
  Consumer* best_consumer(std::uint32_t topic, ConsumerKey& key);
  void dispatch(const Now& now, const ConsumerKey& key, Consumer& consumer, JobPtr job);
  void load_and_send(const ConsumerKey& key, const Active& active);
  void send_item(const ConsumerKey& key, Consumer& consumer, Active& active, BytesView payload, After after);
  void set_wants();
  void flush_windows();
  void drop_retired();
  void refill();

  // job_end.cc
  void finish(const Now& now, JobPtr job, JobState state);
  void failed(const Now& now, JobPtr job, const wire::JobDone& done);
  void heard(const Now& now, const ConsumerKey& key);
  void end_flight(const Active& active);
  void answer(const NodeId& to, const wire::Token& token, bool accepted, After after);
  void flush_answers();

  // job_return.cc: how a dispatch ends without an outcome.
  enum class Charge { kNo, kDelivery };
  void take_back(const Now& now, std::uint64_t number, Charge charge);
  void take_back(const Now& now, const std::vector<std::uint64_t>& numbers, Charge charge);
  void take_back_recovered(const Now& now, const NodeId& node);
  void drop_consumer(const Now& now, const ConsumerKey& key);
  void check_leases(const Now& now);
  void wake_delayed(const Now& now);
  void remember(const Job& job);

  Host& host_;
  Random& random_;
  OwnerConfig config_;
  TopicTable topics_;
  ReadyQueue ready_{1};
  DelayedSet delayed_;
  History history_;

  std::map<ConsumerKey, Consumer> consumers_;
  std::unordered_map<std::uint32_t, std::vector<ConsumerKey>> takers_;  // by topic number
  std::unordered_map<std::uint64_t, Active> active_;                     // by job number
  std::map<NodeId, std::set<std::uint64_t>> recovered_;
  std::vector<Job*> unwritten_;

  std::uint64_t next_number_ = 1;
  std::uint64_t first_number_ = 1;  // of this life
  std::uint64_t reserved_number_ = 0;
  std::uint64_t reserved_ready_ = 0;
  std::uint64_t dispatches_ = 0;
  std::uint64_t rotation_ = 0;
  std::uint64_t forgotten_ = 0;   // nodes, in this life

  std::unordered_map<JobId, std::uint64_t> foreign_;   // ids made by callers, of unfinished jobs and of late ones
  std::deque<std::pair<MonoTime, JobId>> foreign_old_; // those of finished jobs, oldest first
  std::size_t unstored_bytes_ = 0;
  std::map<std::uint64_t, const Job*> unstored_;              // of level memory, unfinished, wherever they are
  std::unordered_map<std::uint64_t, JobPtr> unstored_ended_;
  std::deque<std::uint64_t> unstored_order_;
  std::unordered_map<std::uint64_t, wire::Token> answered_;   // of the newest ends
  std::deque<std::uint64_t> answered_order_;

  struct AnswerKey {
    NodeId to;
    std::uint64_t life;
    After after;
    auto operator<=>(const AnswerKey&) const = default;
  };
  std::map<AnswerKey, wire::JobDoneAck> answers_;

  bool work_changed_ = false;
  MonoTime next_period_ = kNever;
  MonoTime next_purge_{};
  MonoTime next_lease_ = kNever;
  Counts counts_;
};

}  // namespace headrace::job
