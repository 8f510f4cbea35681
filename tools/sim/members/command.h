// What headrace-sim does with a scenario of members.
#pragma once

#include <string>

#include "tools/sim/members/scenario.h"

namespace headrace::sim {

struct MemberRequest {
  const MemberScenario* scenario = nullptr;
  Place members = 1'000;
  std::string profile = "lan";
  bool lifeguard = true;
  std::uint64_t seed = 1, seeds = 1;
  bool trace = false, json = false;
};

struct MemberOutcome {
  std::vector<Verdict> verdicts;
  std::uint64_t hash = 0;  // of all seeds

  bool holds() const;
};

// False for a profile that there is not.
bool find_profile(const std::string& name, Profile& profile);
// Without output, for tests.
MemberOutcome run_members(const MemberRequest& request, std::ostream* trace, bool progress);
// Prints what came of it, and on stderr how far it is if it takes long. 0 if all figures hold.
int members_command(const MemberRequest& request);

}  // namespace headrace::sim
