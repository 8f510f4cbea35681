// Ledger: the checkers. It is told what goes in and out of each machine and what stands on its
// disk, asks no Peer what it believes, and says which promises were broken.
//
// Owned by a World; one thread. Each check can fail: tests plant a fault for each.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/job/job_intake.h"
#include "tools/sim/network.h"
#include "tools/sim/plan.h"
#include "tools/sim/shadow.h"

namespace headrace::sim {

enum class Check : unsigned {
  kNothingLost,   // an acknowledged job is on disk as deep as was said, until it has ended
  kOneOutcome,    // an outcome never changes, and no second one is accepted
  kHighWater,     // no consumer holds more than its mark, none runs more than its slots
  kBeforeCommit,  // nothing leaves before what it depends on is on disk
  kAllDone,       // every job ends once faults have
  kNeedlessRuns,  // a job whose runners all lived ran once for each attempt
  kDeliveries,    // no job is handed out without end
  kAnswers,       // each call is answered once, with what is so
  kWhole,         // a job arrives as it was added
  kViews,         // live nodes agree on who lives
  kRest,          // with nothing to do nothing is said of jobs
  kProtocol,      // no frame was unreadable, no loop went round for nothing
};
inline constexpr std::size_t kChecks = 12;
const char* name_of(Check check);

class Ledger final {
 public:
  enum class Call : std::uint8_t { kNone, kAsked, kAdded, kRefused, kUnknown };
  struct Tracked {
    JobPlan plan;
    Call call = Call::kNone;
    MachineNumber adder = 0;
    std::optional<Incarnation> asked_in;  // of the adder, when it was first asked for
    std::optional<JobId> id;
    std::optional<MachineNumber> owner;
    Level added_level = Level::kMemory;
    bool may_be_lost = false;  // by the level that was asked for
    bool disturbed = false;    // was in the hands of somebody who ended or was out of touch
    unsigned runs = 0;
    std::set<wire::Token> ends;  // accepted completions that end it
    std::optional<wire::Token> in_hand;
  };

  // `exact`: kNeedlessRuns is a promise of this scenario.
  explicit Ledger(bool exact) : exact_(exact) {}

  void add_machine(const Shadow* shadow, NodeId id);
  MachineNumber machine_of(const NodeId& id) const;
  Tracked& track(JobPlan plan);
  Tracked& job(Tag tag) { return jobs_.at(tag - 1); }
  std::vector<Tracked>& jobs() { return jobs_; }

  // Calls of a program.
  void asked(Tag tag, MachineNumber machine);
  // `from_elsewhere`: the owner is another machine, so its answer was on its way for a while.
  void added(Tag tag, const JobId& id, Level level, bool from_elsewhere = false);
  void refused(Tag tag);
  void unknown(Tag tag);

  // What an owner says, as it is handed to the network.
  void item_sent(MachineNumber owner, const NodeId& to, const wire::JobItem& item);
  void ack_sent(MachineNumber owner, const wire::JobDoneAck& ack);
  // What a consumer does.
  void run_started(const job::HeldJob& job);
  void run_ended(const wire::Token& token, JobEnd::Kind kind) { ends_[token] = kind; }
  void holds(MachineNumber machine, std::uint64_t occupancy, std::uint64_t before, unsigned high);
  // What happens to machines.
  void row_put(MachineNumber machine, const Shadow::Row* before, const Shadow::Row& now);
  void process_ended(MachineNumber machine, bool power);
  void reopened(MachineNumber machine);
  void out_of_touch(MachineNumber machine);

  // At the end, with what the owner says of the job.
  void final_info(Tag tag, const Result<JobInfo>& info);
  void final_rows();

  void broken(Check check, const std::string& what);
  bool holds_all() const;
  const std::vector<std::string>& broken(Check check) const {
    return broken_[static_cast<std::size_t>(check)];
  }
  std::uint64_t total_runs() const { return total_runs_; }
  std::uint64_t dispatches() const { return dispatches_.size(); }

 private:
  struct Dispatch {
    Tag tag = 0;
    NodeId to;
  };
  const Shadow::Row* row_of(const JobId& id, bool synced, MachineNumber* owner) const;
  void missing(const Tracked& job, const std::string& when);

  bool exact_;
  std::vector<Tracked> jobs_;  // by tag
  std::vector<const Shadow*> shadows_;
  std::vector<NodeId> ids_;
  std::map<wire::Token, Dispatch> dispatches_;
  std::map<wire::Token, JobEnd::Kind> ends_;  // what handlers said
  std::array<std::vector<std::string>, kChecks> broken_;
  std::uint64_t total_runs_ = 0;
};

}  // namespace headrace::sim
