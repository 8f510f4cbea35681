// World: the machines of one run, what their programs add, what happens to them, and at the end the
// verdict. All of it follows from the scenario and the seed.
//
// One thread. Make one, run() it once.
#pragma once

#include <memory>
#include <vector>

#include "tools/sim/machine.h"
#include "tools/sim/scenario.h"

namespace headrace::sim {

struct Figures {
  std::uint64_t events = 0, turns = 0, frames = 0, frames_lost = 0;
  std::uint64_t jobs = 0, dispatches = 0, runs = 0;
  double seconds = 0;  // virtual
};

struct Report {
  std::array<std::vector<std::string>, kChecks> broken;  // by Check
  Figures figures;
  std::uint64_t hash = 0;
  bool holds() const;
};

class World final {
 public:
  // `trace`: where to write what happens, or null.
  World(const Scenario& scenario, std::uint64_t seed, Plant plant, std::ostream* trace);
  ~World();

  Report run();

 private:
  // world.cc
  MachinePlan plan_machine(MachineNumber number);
  Machine& machine(MachineNumber number) { return *machines_.at(number); }
  MonoTime moment();  // some time in the span
  void calm();
  void settle();
  bool settled();
  bool views_agree(bool tell);
  void finish();
  Report report() const;

  // workload.cc
  JobPlan plan_job();
  void plan_adds();
  void add_soon(const std::vector<Tag>& tags, MachineNumber adder, bool look_up, Nanos delay);
  void add(const std::vector<Tag>& tags, MachineNumber adder, bool look_up);
  bool forgotten(const Ledger::Tracked& tracked);
  void answered(const std::vector<Tag>& tags, MachineNumber adder, bool look_up,
                const Result<Answer>& answer);
  void wait_for(Tag tag, MachineNumber waiter);
  void add_again();

  // faults.cc
  void plan_faults();
  void retry_adds();
  MachineNumber some(MachineNumber from, MachineNumber to);
  void end(MachineNumber number, bool power);
  void cut();
  void pause();
  void hand_back(MachineNumber number);
  void leave_when_idle(MachineNumber number, MonoTime at_the_latest);

  const Scenario scenario_;
  const Plant plant_;
  Random random_;
  Trace trace_;
  EventQueue events_;
  Network network_;
  Ledger ledger_;
  bool calm_ = false;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<bool> gone_;  // left for good
  unsigned adds_waiting_ = 0;
};

}  // namespace headrace::sim
