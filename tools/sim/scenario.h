// Scenario: a world and what happens to it, as chances and counts that a seed makes definite.
#pragma once

#include <string_view>
#include <vector>

#include "tools/sim/machine.h"

namespace headrace::sim {

struct Scenario {
  std::string_view name;
  std::string_view line;  // what it shows

  // The world.
  unsigned nodes = 5;  // machines
  unsigned jobs = 150;
  unsigned owners = 1;  // machines with a store, the first ones; the others only consume
  bool owners_consume = false;
  bool through_owner = false;     // machines without a store add, too
  std::chrono::seconds span{20};  // in which jobs are added and faults happen
  Weather weather;
  Disk disk;
  bool exact = false;  // nobody may run anything needlessly

  // The jobs, as shares of them.
  double os = 0, memory = 0;   // levels; the rest is `disk`
  double large = 0, huge = 0;  // payloads apart from their rows; in pieces
  double own_ids = 0.3, delayed = 0.1;
  double failing = 0.1, hopeless = 0, cancelled = 0.02;
  double slow = 0.05, hanging = 0;  // a slow one takes seconds

  // The faults, how often each happens to some machine.
  unsigned late = 0;  // machines that start later
  unsigned consumer_kills = 0, owner_kills = 0, power_cuts = 0;
  unsigned cuts = 0, pauses = 0, hand_backs = 0;
};

const std::vector<Scenario>& scenarios();
const Scenario* find_scenario(std::string_view name);

}  // namespace headrace::sim
