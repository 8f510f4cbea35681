#include "tools/sim/ledger.h"

#include <algorithm>

#include "core/base/limits.h"

namespace headrace::sim {
namespace {

constexpr std::size_t kTold = 5;  // violations of one check that are spelt out

std::string named(Tag tag) { return "job " + std::to_string(tag); }
std::string named(const wire::Token& token) {
  return "token " + std::to_string(token.life % 10'000) + "/" + std::to_string(token.number);
}

}  // namespace

const char* name_of(Check check) {
  static constexpr std::array<const char*, kChecks> kNames = {"nothing acknowledged is lost",
                                                              "one outcome a job",
                                                              "never above the high mark",
                                                              "nothing before its commit",
                                                              "all done in the end",
                                                              "nothing runs needlessly",
                                                              "deliveries are bounded",
                                                              "calls are answered rightly",
                                                              "jobs arrive whole",
                                                              "views converge",
                                                              "silence at rest",
                                                              "frames are well formed"};
  return kNames.at(static_cast<std::size_t>(check));
}

void Ledger::add_machine(const Shadow* shadow, NodeId id) {
  shadows_.push_back(shadow);
  ids_.push_back(id);
}

MachineNumber Ledger::machine_of(const NodeId& id) const {
  return static_cast<MachineNumber>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
}

Ledger::Tracked& Ledger::track(JobPlan plan) {
  plan.tag = static_cast<Tag>(jobs_.size() + 1);
  Tracked tracked;
  tracked.id = plan.id;
  tracked.plan = std::move(plan);
  return jobs_.emplace_back(std::move(tracked));
}

void Ledger::broken(Check check, const std::string& what) {
  auto& told = broken_[static_cast<std::size_t>(check)];
  if (told.size() < kTold) told.push_back(what);
}

bool Ledger::holds_all() const {
  return std::all_of(broken_.begin(), broken_.end(), [](const auto& told) { return told.empty(); });
}

const Shadow::Row* Ledger::row_of(const JobId& id, bool synced, MachineNumber* owner) const {
  for (MachineNumber i = 0; i < shadows_.size(); ++i) {
    const auto& image = synced ? shadows_[i]->synced() : shadows_[i]->written();
    const auto* row = image.find(id);
    if (row == nullptr) continue;
    if (owner != nullptr) *owner = i;
    return row;
  }
  return nullptr;
}

// --- Calls.

void Ledger::asked(Tag tag, MachineNumber machine) {
  job(tag).call = Call::kAsked;
  job(tag).adder = machine;
}

void Ledger::added(Tag tag, const JobId& id, Level level, bool from_elsewhere) {
  Tracked& tracked = job(tag);
  if (tracked.call != Call::kAsked) broken(Check::kAnswers, named(tag) + " was answered twice");
  if (tracked.id && *tracked.id != id) {
    broken(Check::kAnswers, named(tag) + " was acknowledged under another id");
  }
  if (level < tracked.plan.level) {
    broken(Check::kAnswers, named(tag) + " was acknowledged deeper than it was asked for");
  }
  tracked.call = Call::kAdded;
  tracked.id = id;
  tracked.added_level = level;
  if (level == Level::kMemory) return;
  MachineNumber owner = 0;
  if (row_of(id, level == Level::kDisk, &owner) == nullptr) {
    // While the answer was on its way to another machine, the owner may have lost what it may lose.
    if (from_elsewhere && tracked.may_be_lost) return;
    return broken(Check::kBeforeCommit, named(tag) + " was acknowledged at level " +
                                            std::string(to_string(level)) + " and is not there");
  }
  tracked.owner = owner;
}

void Ledger::refused(Tag tag) {
  if (job(tag).call != Call::kAsked) broken(Check::kAnswers, named(tag) + " was answered twice");
  job(tag).call = Call::kRefused;
}

void Ledger::unknown(Tag tag) {
  if (job(tag).call != Call::kAsked) broken(Check::kAnswers, named(tag) + " was answered twice");
  job(tag).call = Call::kUnknown;
}

// --- What owners say.

void Ledger::item_sent(MachineNumber owner, const NodeId& to, const wire::JobItem& item) {
  const Tag tag = tag_of(item.params);
  if (tag == 0 || tag > jobs_.size()) {
    return broken(Check::kWhole, "an item without the parameters it was added with");
  }
  Tracked& tracked = job(tag);
  if (!tracked.owner) tracked.owner = owner;
  if (*tracked.owner != owner) {
    broken(Check::kOneOutcome, named(tag) + " is handed out by two owners");
  }
  tracked.in_hand = item.token;
  if (!dispatches_.emplace(item.token, Dispatch{tag, to}).second) {
    broken(Check::kOneOutcome, named(tag) + ": " + named(item.token) + " was given twice");
  }
  if (item.deliveries > limits::kDeliveries + item.attempt - 1) {
    broken(Check::kDeliveries, named(tag) + " is handed out for the " +
                                   std::to_string(item.deliveries) + "th time at attempt " +
                                   std::to_string(item.attempt));
  }
  if (tracked.plan.level == Level::kMemory) return;
  const bool disk = tracked.plan.level == Level::kDisk;
  const auto& image = disk ? shadows_[owner]->synced() : shadows_[owner]->written();
  // It may have been taken back since, in the batch that was synced with this one.
  if (!image.dispatched.contains(item.token)) {
    broken(Check::kBeforeCommit, named(tag) + " leaves its owner before its dispatch is on record");
  }
}

void Ledger::ack_sent(MachineNumber owner, const wire::JobDoneAck& ack) {
  for (const auto number : ack.accepted) {
    const wire::Token token{ack.life, number};
    const auto dispatch = dispatches_.find(token);
    if (dispatch == dispatches_.end()) {
      broken(Check::kOneOutcome, "a completion of an unknown " + named(token) + " is accepted");
      continue;
    }
    Tracked& tracked = job(dispatch->second.tag);
    const auto level = tracked.plan.level;
    if (level != Level::kMemory) {
      const auto& shadow = *shadows_[owner];
      const auto& image = level == Level::kDisk ? shadow.synced() : shadow.written();
      if (!image.answered.contains(token)) {
        broken(Check::kBeforeCommit,
               named(tracked.plan.tag) + " is accepted before its end is on record");
      }
    }
    if (tracked.in_hand == token) tracked.in_hand.reset();
    const auto end = ends_.find(token);
    if (end == ends_.end()) {
      broken(Check::kOneOutcome, named(tracked.plan.tag) + " is accepted and never ended");
    } else if (end->second != JobEnd::Kind::kFail) {
      tracked.ends.insert(token);
      if (tracked.ends.size() > 1 && !tracked.may_be_lost) {
        broken(Check::kOneOutcome, named(tracked.plan.tag) + " of level " +
                                       std::string(to_string(level)) +
                                       " has two accepted ends, the second is " + named(token));
      }
    }
  }
}

// --- What consumers do.

void Ledger::run_started(const job::HeldJob& held) {
  ++total_runs_;
  const Tag tag = tag_of(held.params);
  if (tag == 0 || tag > jobs_.size()) {
    return broken(Check::kWhole, "a run without the parameters it was added with");
  }
  Tracked& tracked = job(tag);
  ++tracked.runs;
  if (held.payload != payload_of(tracked.plan) || held.topic != tracked.plan.topic) {
    broken(Check::kWhole, named(tag) + " arrived with another payload or topic");
  }
}

void Ledger::holds(MachineNumber machine, std::uint64_t occupancy, std::uint64_t before,
                   unsigned high) {
  // A mark that was lowered leaves what is there; it must not grow.
  if (occupancy <= high || occupancy <= before) return;
  broken(Check::kHighWater, "machine " + std::to_string(machine) + " holds " +
                                std::to_string(occupancy) + " above its mark of " +
                                std::to_string(high));
}

// --- What happens to machines.

void Ledger::row_put(MachineNumber machine, const Shadow::Row* before, const Shadow::Row& now) {
  if (before == nullptr || !is_terminal(before->state) || before->body == now.body) return;
  broken(Check::kOneOutcome, "machine " + std::to_string(machine) + ": " + now.id.hex() + " was " +
                                 std::string(to_string(before->state)) +
                                 " and is written again as " + std::string(to_string(now.state)));
}

void Ledger::process_ended(MachineNumber machine, bool power) {
  out_of_touch(machine);
  for (auto& tracked : jobs_) {
    if (tracked.call == Call::kAsked && tracked.adder == machine) tracked.call = Call::kUnknown;
    // Of a job that was never told of, the owner may be anybody.
    if (tracked.owner && *tracked.owner != machine) continue;
    const auto level = tracked.plan.level;
    if (level == Level::kMemory || (power && level == Level::kOs)) tracked.may_be_lost = true;
  }
}

void Ledger::out_of_touch(MachineNumber machine) {
  for (auto& tracked : jobs_) {
    if (tracked.in_hand && dispatches_.at(*tracked.in_hand).to == ids_[machine]) {
      tracked.disturbed = true;
    }
  }
}

void Ledger::missing(const Tracked& tracked, const std::string& when) {
  broken(Check::kNothingLost, named(tracked.plan.tag) + " of level " +
                                  std::string(to_string(tracked.plan.level)) +
                                  " was acknowledged and is gone " + when);
}

void Ledger::reopened(MachineNumber machine) {
  const auto& image = shadows_[machine]->written();
  for (const auto& tracked : jobs_) {
    if (tracked.owner != machine || tracked.may_be_lost || !tracked.id) continue;
    if (tracked.call != Call::kAdded || tracked.added_level == Level::kMemory) continue;
    const auto* row = image.find(*tracked.id);
    if (row == nullptr) {
      missing(tracked, "after a restart");
    } else if (!tracked.ends.empty() && !is_terminal(row->state)) {
      broken(Check::kOneOutcome, named(tracked.plan.tag) + " had ended, and a restart undid it");
    }
  }
}

// --- At the end.

void Ledger::final_info(Tag tag, const Result<JobInfo>& info) {
  const Tracked& tracked = job(tag);
  if (!info) {
    if (!tracked.may_be_lost) missing(tracked, "in the end: " + info.error().message);
    return;
  }
  if (!is_terminal(info->state)) {
    return broken(Check::kAllDone,
                  named(tag) + " is " + std::string(to_string(info->state)) + " in the end");
  }
  const bool ok = info->state == JobState::kSucceeded;
  const bool may_succeed = tracked.plan.end == JobEnd::Kind::kOk;
  if (ok && !may_succeed) broken(Check::kOneOutcome, named(tag) + " succeeded and never did");
  if (tracked.runs == 0 && ok) broken(Check::kOneOutcome, named(tag) + " succeeded without a run");
  if (!exact_ || tracked.disturbed || tracked.may_be_lost) return;
  // A failed attempt and a cancelled one are counted, the one that succeeds is not.
  const auto expected = info->attempt + (ok ? 1u : 0u);
  if (tracked.runs != expected) {
    broken(Check::kNeedlessRuns, named(tag) + " ran " + std::to_string(tracked.runs) +
                                     " times for " + std::to_string(expected) + " attempts");
  }
}

void Ledger::final_rows() {
  for (std::size_t i = 0; i < shadows_.size(); ++i) {
    std::set<JobId> seen;
    for (const auto& [number, row] : shadows_[i]->written().jobs) {
      if (!seen.insert(row.id).second) {
        broken(Check::kOneOutcome,
               row.id.hex() + " is stored twice on machine " + std::to_string(i));
      }
      if (is_terminal(row.state)) continue;
      broken(Check::kAllDone, "machine " + std::to_string(i) + ": job number " +
                                  std::to_string(number) + " is " +
                                  std::string(to_string(row.state)) + " in the end");
    }
    for (const auto& [number, token] : shadows_[i]->written().active) {
      broken(Check::kAllDone, "machine " + std::to_string(i) + ": job number " +
                                  std::to_string(number) + " is still on record as active");
    }
  }
}

}  // namespace headrace::sim
