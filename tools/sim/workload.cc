// What the programs of a simulated world add, and how they take the answers.
#include <algorithm>

#include "core/base/limits.h"
#include "tools/sim/world.h"

namespace headrace::sim {

JobPlan World::plan_job() {
  static constexpr const char* kTopics[] = {"work.a", "work.b", "work.b.c"};
  JobPlan plan;
  plan.topic = kTopics[random_.below(std::size(kTopics))];
  plan.priority = static_cast<std::uint8_t>(random_.below(10));
  const auto level = random_.unit();
  if (level < scenario_.os)
    plan.level = Level::kOs;
  else if (level < scenario_.os + scenario_.memory)
    plan.level = Level::kMemory;
  const auto size = random_.unit();
  if (size < scenario_.huge)
    plan.payload_bytes = limits::kChunkBytes + random_.below(1 << 20);
  else if (size < scenario_.huge + scenario_.large)
    plan.payload_bytes = 4000 + random_.below(9000);
  else
    plan.payload_bytes = random_.below(300);
  if (random_.chance(scenario_.delayed)) plan.not_before = Millis{random_.between(1, 4000)};
  if (random_.chance(scenario_.own_ids)) {
    plan.id = JobId::from_halves(random_.next() | 1, random_.next());
  }
  plan.max_attempts = 1 + static_cast<unsigned>(random_.below(8));
  const auto fate = random_.unit();
  if (fate < scenario_.hopeless) {
    plan.fails = plan.max_attempts;
  } else if (fate < scenario_.hopeless + scenario_.failing) {
    plan.fails = static_cast<unsigned>(random_.below(plan.max_attempts));
  }
  if (random_.chance(scenario_.cancelled)) plan.end = JobEnd::Kind::kCancel;
  plan.hangs = random_.chance(scenario_.hanging);
  const auto pace = random_.unit();
  if (pace < scenario_.slow)
    plan.run_time = Millis{random_.between(200, 3000)};
  else if (pace < 0.4)
    plan.run_time = Millis{random_.between(1, 50)};
  else
    plan.run_time = Micros{random_.between(20, 1000)};
  return plan;
}

// Jobs come one by one and in groups, from the owners' own programs and from elsewhere; in some
// worlds spread over the whole span, in others in bursts that fill every window.
void World::plan_adds() {
  std::vector<MonoTime> bursts;
  for (auto i = random_.below(4); i > 0; --i) bursts.push_back(moment());
  const auto when = [&] {
    if (bursts.empty() || random_.chance(0.3)) return moment();
    return bursts[random_.below(bursts.size())] + Millis{random_.between(0, 20)};
  };
  for (unsigned left = scenario_.jobs; left > 0;) {
    const auto group = std::min<unsigned>(
        left, random_.chance(0.8) ? 1 : 1 + static_cast<unsigned>(random_.below(12)));
    left -= group;
    const bool elsewhere = scenario_.through_owner && random_.chance(0.6);
    const auto adder =
        elsewhere ? some(scenario_.owners, scenario_.nodes - 1) : some(0, scenario_.owners - 1);
    std::vector<Tag> tags;
    for (unsigned i = 0; i < group; ++i) {
      auto plan = plan_job();
      if (!tags.empty()) plan.level = ledger_.job(tags.front()).plan.level;
      if (elsewhere) plan.id = JobId::from_halves(random_.next() | 1, random_.next());
      tags.push_back(ledger_.track(std::move(plan)).plan.tag);
    }
    add_soon(tags, adder, false, when() - events_.now());
  }
}

void World::add_soon(const std::vector<Tag>& tags, MachineNumber adder, bool look_up, Nanos delay) {
  ++adds_waiting_;
  events_.after(delay, [this, tags, adder, look_up] {
    --adds_waiting_;
    add(tags, adder, look_up);
  });
}

// Without a store and without a name for its owner, a new process may choose another: so its
// program does not go on where the one before ended.
bool World::forgotten(const Ledger::Tracked& tracked) {
  const auto& adder = machine(tracked.adder);
  return tracked.asked_in && !adder.plan().has_store && adder.plan().owner.empty() &&
         *tracked.asked_in != adder.incarnation();
}

void World::add(const std::vector<Tag>& tags, MachineNumber adder, bool look_up) {
  Machine& at = machine(adder);
  if (gone_[adder] || forgotten(ledger_.job(tags.front()))) {
    for (const auto tag : tags)
      ledger_.job(tag).call = Ledger::Call::kRefused;  // its program is gone
    return;
  }
  if (!at.up() || at.paused()) return add_soon(tags, adder, look_up, Millis{700});
  const Nanos patience = at.plan().has_store ? Nanos::max() : Millis{random_.between(2000, 20'000)};
  for (const auto tag : tags) {
    auto& asked_in = ledger_.job(tag).asked_in;
    if (!asked_in) asked_in = at.incarnation();
  }
  at.add(tags, patience, look_up, [this, tags, adder, look_up](const Result<Answer>& answer) {
    answered(tags, adder, look_up, answer);
  });
}

void World::answered(const std::vector<Tag>& tags, MachineNumber adder, bool look_up,
                     const Result<Answer>& answer) {
  if (answer) {
    const auto& added = std::get<Added>(*answer);
    if (added.ids.size() != tags.size()) {
      return ledger_.broken(Check::kAnswers, "an add is answered with another number of ids");
    }
    for (std::size_t i = 0; i < tags.size(); ++i) {
      ledger_.added(tags[i], added.ids[i], added.level, !machine(adder).plan().has_store);
      if (random_.chance(0.15)) wait_for(tags[i], adder);
    }
    return;
  }
  const bool unknown = answer.error().code == Code::kOutcomeUnknown;
  const bool not_done = answer.error().code == Code::kUnreachable;
  for (const auto tag : tags) unknown ? ledger_.unknown(tag) : ledger_.refused(tag);
  if (not_done) add_soon(tags, adder, look_up, Millis{500});
}

void World::wait_for(Tag tag, MachineNumber waiter) {
  machine(waiter).wait(
      *ledger_.job(tag).id, std::chrono::hours{2}, [this, tag](const Result<Answer>& answer) {
        const auto& tracked = ledger_.job(tag);
        const auto name = "job " + std::to_string(tag);
        if (!answer) {
          const auto code = answer.error().code;
          const bool lost = code == Code::kNotFound && tracked.may_be_lost;
          if (lost || code == Code::kStore) return;
          return ledger_.broken(Check::kAnswers,
                                "waiting for " + name + " ends with: " + answer.error().message);
        }
        const auto* list = std::get_if<std::vector<JobInfo>>(&*answer);
        const auto info = list != nullptr ? list->at(0) : std::get<JobInfo>(*answer);
        if (!is_terminal(info.state)) {
          ledger_.broken(Check::kAnswers, "waiting for " + name + " ends before it has");
        }
        if (info.id != *tracked.id) {
          ledger_.broken(Check::kAnswers, "waiting for " + name + " ends with another job");
        }
      });
}

// A program whose add ended in "nobody knows" adds it again under its id.
void World::add_again() {
  for (auto& tracked : ledger_.jobs()) {
    if (tracked.call != Ledger::Call::kUnknown || !tracked.plan.id) continue;
    if (gone_[tracked.adder] || forgotten(tracked)) {
      tracked.call = Ledger::Call::kRefused;
      continue;
    }
    const auto& at = machine(tracked.adder);
    if (at.up() && !at.paused()) add({tracked.plan.tag}, tracked.adder, true);
  }
}

}  // namespace headrace::sim
