#include "tools/sim/world.h"

#include <algorithm>

#include "core/base/limits.h"

namespace headrace::sim {
namespace {

constexpr std::chrono::hours kPatience{3};    // for the last job to end
constexpr std::chrono::minutes kViewTime{3};  // for the views to agree
constexpr std::chrono::seconds kRest{5};

// Jobs of level memory have no rows to look at: their owner must be asked.
bool nothing_unstored(const Machine& machine) {
  const auto* owner = machine.up() ? machine.peer()->owner() : nullptr;
  if (owner == nullptr) return true;
  JobFilter all;
  all.limit = limits::kFindLimit;
  const auto found = owner->find_in_memory(machine.now(), all);
  return std::all_of(found.begin(), found.end(),
                     [](const auto& info) { return is_terminal(info.state); });
}

}  // namespace

bool Report::holds() const {
  return std::all_of(broken.begin(), broken.end(), [](const auto& told) { return told.empty(); });
}

World::World(const Scenario& scenario, std::uint64_t seed, Plant plant, std::ostream* trace)
    : scenario_(scenario),
      plant_(plant),
      random_(seed),
      trace_(trace),
      network_(events_, random_,
               [this](MachineNumber to, wire::Lane lane, const auto& frame) {
                 if (plant_ == Plant::kDeafMachine && to + 1 == scenario_.nodes) return;
                 machine(to).receive(lane, frame);
               }),
      ledger_(scenario.exact) {
  network_.set_weather(scenario_.weather);
  const Surroundings around{events_, random_,        network_, ledger_,
                            trace_,  scenario_.disk, plant_,   calm_};
  for (MachineNumber i = 0; i < scenario_.nodes; ++i) {
    machines_.push_back(std::make_unique<Machine>(around, plan_machine(i)));
  }
  gone_.resize(machines_.size());
}

World::~World() = default;

MachinePlan World::plan_machine(MachineNumber number) {
  MachinePlan plan;
  plan.number = number;
  plan.has_store = number < scenario_.owners;
  plan.clock_offset = Micros{random_.between(-5'000'000, 5'000'000)};
  plan.seeds = {control_endpoint(0)};
  if (scenario_.owners > 1) plan.seeds.push_back(control_endpoint(1));
  if (!plan.has_store && random_.chance(0.5)) {
    plan.owner = control_endpoint(some(0, scenario_.owners - 1));
  }
  if (plan.has_store && !scenario_.owners_consume) return plan;
  // The last machine takes everything, so that no job is left without a consumer.
  static constexpr const char* kTopics[] = {"work.>", "work.*", "work.a", "work.b.c", "*"};
  const bool all = number + 1 == scenario_.nodes;
  const auto consumers = all ? 1 : 1 + random_.below(2);
  for (unsigned i = 0; i < consumers; ++i) {
    ConsumerPlan consumer;
    consumer.topics = all ? "work.>" : kTopics[random_.below(std::size(kTopics))];
    consumer.parallel = 1 + static_cast<unsigned>(random_.below(6));
    if (random_.chance(0.5)) {
      const auto high = static_cast<unsigned>(random_.between(consumer.parallel, 40));
      consumer.marks = make_marks(high, {}, consumer.parallel).value();
    }
    plan.consumers.push_back(std::move(consumer));
  }
  return plan;
}

MonoTime World::moment() {
  const Nanos span = scenario_.span;
  return events_.now() + Nanos{random_.between(span.count() / 20, span.count())};
}

Report World::run() {
  const auto begin = events_.now();
  for (MachineNumber i = 0; i < scenario_.nodes; ++i) {
    const bool late = i >= scenario_.owners && i < scenario_.owners + scenario_.late;
    const auto when = late ? moment() : begin + Millis{random_.between(0, 300)};
    events_.at(when, [this, i] {
      if (!machine(i).up()) machine(i).start();
    });
  }
  plan_adds();
  plan_faults();
  events_.run_until(begin + scenario_.span);
  calm();
  settle();
  finish();
  return report();
}

// No more faults, and everybody is back.
void World::calm() {
  trace_.line(events_.now(), "calm");
  calm_ = true;
  network_.heal_all();
  network_.set_weather({});
  for (MachineNumber i = 0; i < machines_.size(); ++i) {
    if (gone_[i]) continue;
    machine(i).resume(true);
    if (!machine(i).up()) machine(i).start();
    machine(i).let_hanging_end();
  }
}

void World::settle() {
  const auto latest = events_.now() + kPatience;
  while (!settled() && events_.now() < latest) {
    events_.run_until(events_.now() + Millis{500});
    add_again();
  }
  if (!settled()) ledger_.broken(Check::kAllDone, "something is held after hours without faults");
  const auto agreed = events_.now() + kViewTime;
  while (!views_agree(false) && events_.now() < agreed) {
    events_.run_until(events_.now() + std::chrono::seconds{1});
  }
  views_agree(true);
}

bool World::settled() {
  if (adds_waiting_ > 0) return false;
  for (const auto& tracked : ledger_.jobs()) {
    if (tracked.call == Ledger::Call::kAsked) return false;
    if (tracked.call == Ledger::Call::kUnknown && tracked.plan.id) return false;
  }
  for (const auto& one : machines_) {
    if (!one->idle()) return false;
    const auto& rows = one->shadow().written().jobs;
    if (std::any_of(rows.begin(), rows.end(),
                    [](const auto& row) { return !is_terminal(row.second.state); })) {
      return false;
    }
  }
  return std::all_of(machines_.begin(), machines_.end(),
                     [](const auto& one) { return nothing_unstored(*one); });
}

bool World::views_agree(bool tell) {
  bool agree = true;
  for (const auto& one : machines_) {
    if (!one->up()) continue;
    for (const auto& other : machines_) {
      const auto rows = one->peer()->members(one->now());
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const auto& r) { return r.id == other->id(); });
      const bool seen =
          row != rows.end() && row->state == "alive" && row->incarnation == other->incarnation();
      if (seen == other->up()) continue;
      agree = false;
      if (tell) {
        ledger_.broken(Check::kViews, "m" + std::to_string(one->plan().number) + " takes m" +
                                          std::to_string(other->plan().number) + " for " +
                                          (row == rows.end() ? "unknown" : row->state));
      }
    }
  }
  return agree;
}

// Asks for every job that was acknowledged, then listens to the silence.
void World::finish() {
  for (auto& tracked : ledger_.jobs()) {
    if (tracked.call != Ledger::Call::kAdded) continue;
    const auto owner = tracked.owner.value_or(tracked.adder);
    if (!machine(owner).up() || !machine(owner).plan().has_store) continue;
    machine(owner).get(*tracked.id, [this, tag = tracked.plan.tag](const Result<Answer>& answer) {
      if (!answer) return ledger_.final_info(tag, fail(answer.error()));
      ledger_.final_info(tag, std::get<JobInfo>(*answer));
    });
  }
  events_.run_until(events_.now() + kRest);
  for (const auto& one : machines_) {
    if (!one->idle()) ledger_.broken(Check::kAnswers, "a look at a job was never answered");
  }
  const auto silent_from = events_.now();
  events_.run_until(silent_from + kRest);
  for (const auto& one : machines_) {
    if (one->up() && one->last_job_mail() > silent_from) {
      ledger_.broken(Check::kRest,
                     "m" + std::to_string(one->plan().number) +
                         " goes on about jobs when there are none, with messages of kind " +
                         std::to_string(one->last_job_kind()));
    }
    const auto* peer = one->peer();
    if (peer != nullptr && peer->bad_frames() + peer->unknown_kinds() > 0) {
      ledger_.broken(Check::kProtocol,
                     "m" + std::to_string(one->plan().number) + " could not read a frame");
    }
  }
  ledger_.final_rows();
}

Report World::report() const {
  Report report;
  for (std::size_t i = 0; i < kChecks; ++i) {
    report.broken[i] = ledger_.broken(static_cast<Check>(i));
  }
  auto& figures = report.figures;
  figures.events = events_.done();
  figures.frames = network_.frames();
  figures.frames_lost = network_.lost();
  for (const auto& one : machines_) figures.turns += one->turns();
  figures.jobs = scenario_.jobs;
  figures.dispatches = ledger_.dispatches();
  figures.runs = ledger_.total_runs();
  figures.seconds = static_cast<double>((events_.now() - EventQueue{}.now()).count()) / 1e9;
  report.hash = trace_.hash();
  return report;
}

}  // namespace headrace::sim
