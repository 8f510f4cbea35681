// Whole runs of a simulated world: random ones with every fault, whose end is checked too, and
// clean ones that measure what the protocol costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "window_world.h"

namespace headrace::flow_test {

// Everything about the run follows from the seed. Returns what was breached; empty if nothing.
std::string random_run(std::uint64_t seed, std::int64_t* steps = nullptr);

struct Cost {
  double slots_used = 0, messages_an_item = 0;
  double unfair = 0;  // distance of a sender's share of places from its fair share, at worst
};
// All senders have work all the time.
Cost steady_cost(const Shape& shape);

// What the window may cost in a clean run that a tempting mistake makes dear.
struct CostBound {
  const char* name;
  double (*measure)();
  double bound;
  bool at_least;  // else at most

  bool keeps(double value) const { return at_least ? value >= bound : value <= bound; }
};
const std::vector<CostBound>& cost_bounds();

}  // namespace headrace::flow_test
