// What the member scenarios must keep to, by size of the cluster and by profile. The figures are
// set for the `lan` profile at 1,000 and at 10,000 members; for the others they follow the length
// of a probe and of a suspicion.
#pragma once

#include "tools/sim/members/world.h"

namespace headrace::sim {

inline bool large(const MemberWorld& world) { return world.size() > 3'000; }

inline double seconds(Nanos time) { return std::chrono::duration<double>(time).count(); }

// How much longer a detection takes than with `lan`.
inline double slower(const Profile& profile) {
  return seconds(profile.probe_interval) * profile.suspicion_mult / 4;
}

// How many more probes are sent than with `lan`.
inline double busier(const Profile& profile) { return 1 / seconds(profile.probe_interval); }

// One crash: from the crash until the last member holds it for dead.
inline double known_within(const MemberWorld& world) {
  if (world.profile().probe_interval == Profile::fast().probe_interval) {
    return large(world) ? 10.5 : 8;
  }
  return (large(world) ? 23 : 18) * slower(world.profile());
}

// Of a member that is deaf for 20 of every 40 s: once dead and back in five minutes. The suspicions
// of a small or fast cluster are so short that even twice as long they end within its deafness.
inline double flaps_allowed(const MemberWorld& world) {
  const bool small = world.size() < 1'000;
  return world.profile().probe_interval < Profile::lan().probe_interval ? 6 : small ? 4 : 2;
}

}  // namespace headrace::sim
