// MemberScenario: what happens to a world of members, and the figures that must come of it.
#pragma once

#include <string_view>
#include <vector>

#include "tools/sim/members/figure.h"
#include "tools/sim/members/world.h"

namespace headrace::sim {

struct MemberScenario {
  std::string_view name;
  std::string_view line;  // what it shows
  MemberFigures (*play)(MemberWorld& world);
  std::chrono::seconds lasts;  // of virtual time, about
};

inline constexpr Place kLeastMembers = 10;
inline constexpr Place kMostMembers = 10'000;

const std::vector<MemberScenario>& member_scenarios();
const MemberScenario* find_member_scenario(std::string_view name);

// What Lifeguard adds is taken out: no health score, no shrinking suspicion. For the run that must
// fail.
Profile without_lifeguard(Profile profile);

}  // namespace headrace::sim
