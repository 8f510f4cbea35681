// What happens to a simulated world.
#include <algorithm>

#include "tools/sim/world.h"

namespace headrace::sim {

MachineNumber World::some(MachineNumber from, MachineNumber to) {
  return static_cast<MachineNumber>(random_.between(from, to));
}

void World::plan_faults() {
  const auto plan = [this](unsigned times, auto what) {
    for (unsigned i = 0; i < times; ++i) {
      events_.at(moment(), [this, what] {
        if (!calm_) what();
      });
    }
  };
  const auto last = scenario_.nodes - 1;
  plan(scenario_.consumer_kills, [this, last] { end(some(scenario_.owners, last), false); });
  plan(scenario_.owner_kills, [this] { end(some(0, scenario_.owners - 1), false); });
  plan(scenario_.power_cuts, [this] { end(some(0, scenario_.owners - 1), true); });
  plan(scenario_.cuts, [this] { cut(); });
  plan(scenario_.pauses, [this] { pause(); });
  // The last one stays, so that there is somebody to take over.
  plan(scenario_.hand_backs, [this, last] { hand_back(some(scenario_.owners, last - 1)); });
  retry_adds();
}

// Programs do not wait for the calm to add again.
void World::retry_adds() {
  add_again();
  if (calm_) return;
  events_.after(Millis{random_.between(200, 3000)}, [this] { retry_adds(); });
}

// Whoever was connected to a killed process is refused when he dials again; a machine without power
// says nothing.
void World::end(MachineNumber number, bool power) {
  Machine& victim = machine(number);
  if (!victim.up() || gone_[number]) return;
  if (power)
    victim.lose_power();
  else
    victim.kill();
  for (MachineNumber other = 0; other < machines_.size() && !power; ++other) {
    if (other == number || !network_.reaches(other, number) || random_.chance(0.2)) continue;
    events_.after(Millis{random_.between(1, 200)}, [this, other, number] {
      if (!machine(number).up()) machine(other).refused(machine(number).id());
    });
  }
  const Millis down{random_.chance(0.7) ? random_.between(10, 3000)
                                        : random_.between(3000, 45'000)};
  events_.after(down, [this, number] {
    if (!machine(number).up() && !gone_[number]) machine(number).start();
  });
}

// One machine from all, two halves, or one direction between two.
void World::cut() {
  std::vector<std::pair<MachineNumber, MachineNumber>> ways;
  const auto kind = random_.below(3);
  const auto all = static_cast<MachineNumber>(machines_.size());
  if (kind == 2) {
    const auto from = some(0, all - 1), to = some(0, all - 1);
    if (from != to) ways.emplace_back(from, to);
  } else {
    const auto alone = some(0, all - 1);
    std::vector<bool> there(all);
    for (MachineNumber i = 0; i < all; ++i) there[i] = kind == 0 ? i == alone : random_.chance(0.5);
    for (MachineNumber i = 0; i < all; ++i) {
      for (MachineNumber j = 0; j < all; ++j) {
        if (there[i] != there[j]) ways.emplace_back(i, j);
      }
    }
  }
  trace_.line(events_.now(), "the network is cut in " + std::to_string(ways.size()) + " ways");
  for (const auto& [from, to] : ways) {
    network_.cut(from, to);
    ledger_.out_of_touch(from);
    ledger_.out_of_touch(to);
  }
  const Millis time{random_.chance(0.5) ? random_.between(50, 4000)
                                        : random_.between(4000, 50'000)};
  events_.after(time, [this, ways] {
    for (const auto& [from, to] : ways) network_.heal(from, to);
  });
}

void World::pause() {
  const auto number = some(0, scenario_.nodes - 1);
  machine(number).pause();
  const Millis time{random_.chance(0.6) ? random_.between(20, 3000)
                                        : random_.between(3000, 45'000)};
  events_.after(time, [this, number, told = random_.chance(0.7)] { machine(number).resume(told); });
}

void World::hand_back(MachineNumber number) {
  if (!machine(number).up() || !machine(number).consumes() || machine(number).paused()) return;
  machine(number).stop_consuming();
  if (random_.chance(0.3)) return;  // it stays, without handlers
  leave_when_idle(number, events_.now() + std::chrono::seconds{30});
}

void World::leave_when_idle(MachineNumber number, MonoTime at_the_latest) {
  if (!machine(number).up()) return;
  if (machine(number).idle() || events_.now() >= at_the_latest) {
    gone_[number] = true;
    return machine(number).leave();
  }
  events_.after(Millis{100},
                [this, number, at_the_latest] { leave_when_idle(number, at_the_latest); });
}

}  // namespace headrace::sim
