// Whole runs of a simulated world: random ones with every fault, whose end is checked too, and
// clean ones that measure what the protocol costs.
#pragma once

#include <cstdint>
#include <string>

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
// One busy sender beside three that were served and are idle, high mark 64.
Cost one_busy_cost();
// Four senders with a quarter of what the slots could do, high mark 64.
Cost quarter_load_cost();
// Two busy senders, high mark 4; the data lane of one swallows everything.
Cost swallowed_lane_cost();

}  // namespace headrace::flow_test
