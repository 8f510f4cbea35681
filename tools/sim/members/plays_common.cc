#include "tools/sim/members/plays_common.h"

#include <numeric>

namespace headrace::sim {

void settle(MemberWorld& world) {
  world.form();
  // Longer than a round of syncs, and not the same moment of it each time.
  world.run(world.profile().sync_interval + Millis{world.random.between(0, 5'000)});
  world.watch.reset(world.now());
}

std::vector<Place> pick(MemberWorld& world, Place count) {
  std::vector<Place> all(world.size());
  std::iota(all.begin(), all.end(), 0);
  for (Place i = 0; i < count; ++i) {
    std::swap(all[i], all[i + world.random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

}  // namespace headrace::sim
