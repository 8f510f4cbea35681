// Loss, and members that do not reach each other.
#include <algorithm>

#include "tools/sim/members/plays.h"
#include "tools/sim/members/plays_common.h"

namespace headrace::sim {

using namespace std::chrono_literals;

namespace {

MemberFigures lose(MemberWorld& world, unsigned percent) {
  constexpr auto kTime = 300s;
  settle(world);
  world.network.loss_percent = percent;
  world.watch.follow_refutations();
  world.run(kTime);
  const auto& watch = world.watch;
  return {
      count_of("deaths", watch.deaths, 0),
      count_of("suspicions, over all views", watch.suspicions),
      {"99 % of them refuted within", "s", seconds(watch.refuted_within(99)),
       2 * seconds(world.profile().probe_interval)},
      {"sent by a member", "kB/s", per_node_and_second(world, watch.bytes(), kTime) / 1e3},
  };
}

// Cuts off the places that `apart` is true for.
void split(MemberWorld& world, std::vector<bool> apart) {
  world.network.cut = [apart = std::move(apart)](Place from, Place to) {
    return apart[from] != apart[to];
  };
}

std::vector<bool> apart(MemberWorld& world, Place count) {
  std::vector<bool> out(world.size(), false);
  for (const Place place : pick(world, count)) out[place] = true;
  return out;
}

MemberFigures split_shortly(MemberWorld& world, std::chrono::seconds time) {
  settle(world);
  split(world, apart(world, world.size() / 2));
  world.run(time);
  world.network.cut = nullptr;
  const auto end = world.now();
  world.run(2s);  // after a second nobody suspects anybody yet
  const bool agreed = world.run_until(120s, [&] { return world.agreed(); });
  const auto took = world.now() - end;
  world.run(30s);
  const double allowed = time > 1s && world.size() > 1'000 ? 5 : 0;
  return {
      count_of("healthy members declared dead, over all views", world.watch.false_deaths, allowed),
      count_of("suspicions, over all views", world.watch.suspicions),
      peak(world, 256 * busier(world.profile())),
      {"views equal after it ends", "s", agreed ? seconds(took) : 120, 30},
  };
}

MemberFigures split_and_heal(MemberWorld& world, Place count) {
  settle(world);
  split(world, apart(world, count));
  world.run(60s);
  const auto before = world.watch.deaths;
  world.network.cut = nullptr;
  const auto end = world.now();
  const bool agreed = world.run_until(300s, [&] { return world.agreed(); });
  const auto took = world.now() - end;
  world.run(60s);
  const double slow = seconds(world.profile().sync_interval) / 10;
  return {
      {"views equal after the heal", "s", agreed ? seconds(took) : 300, 30 * slow, 15 * slow},
      count_of("views apart a minute later", world.agreed() ? 0 : 1, 0),
      count_of("deaths while apart, over all views", before),
      count_of("deaths after the heal, over all views", world.watch.deaths - before),
      peak(world, Figure::kAny),
  };
}

MemberFigures cut(MemberWorld& world, Place count) {
  settle(world);
  const auto places = pick(world, count + 1);
  std::vector<bool> far(world.size(), false);
  for (std::size_t i = 1; i < places.size(); ++i) far[places[i]] = true;
  world.network.cut = [hub = places[0], far = std::move(far)](Place from, Place to) {
    return (from == hub && far[to]) || (to == hub && far[from]);
  };
  // Up to a thousand members, long enough for each to probe each.
  const auto round = world.profile().probe_interval * std::min<Place>(world.size(), 1'000);
  world.run(std::max<Nanos>(300s, round + round / 10));
  return {count_of("deaths", world.watch.deaths, 0),
          count_of("suspicions, over all views", world.watch.suspicions)};
}

}  // namespace

MemberFigures play_loss_1(MemberWorld& world) { return lose(world, 1); }
MemberFigures play_loss_5(MemberWorld& world) { return lose(world, 5); }
MemberFigures play_loss_10(MemberWorld& world) { return lose(world, 10); }

MemberFigures play_short_split_1(MemberWorld& world) { return split_shortly(world, 1s); }
MemberFigures play_short_split_5(MemberWorld& world) { return split_shortly(world, 5s); }

MemberFigures play_split_half(MemberWorld& world) {
  return split_and_heal(world, world.size() / 2);
}
MemberFigures play_split_tenth(MemberWorld& world) {
  return split_and_heal(world, percent(world, 10));
}
MemberFigures play_split_one(MemberWorld& world) { return split_and_heal(world, 1); }

MemberFigures play_cut_pair(MemberWorld& world) { return cut(world, 1); }
MemberFigures play_cut_star(MemberWorld& world) { return cut(world, percent(world, 10)); }

MemberFigures play_one_way(MemberWorld& world) {
  static constexpr Nanos kHalf = 20s;
  settle(world);
  world.watch.follow_flaps();
  const auto flappers = apart(world, percent(world, 1));
  world.watch.excused = flappers;
  const auto start = world.now();
  // What is sent to them is lost, what they send arrives.
  world.network.cut = [&world, flappers, start](Place, Place to) {
    return flappers[to] && (world.now() - start) / kHalf % 2 == 0;
  };
  world.run(300s);
  MemberFigures out{
      count_of("changes to dead and back of one member in one view", world.watch.most_flaps(),
               flaps_allowed(world)),
      count_of("deaths of flapping members, over all views",
               world.watch.deaths - world.watch.false_deaths),
      false_deaths(world),
  };
  world.network.cut = nullptr;
  const auto end = world.now();
  const bool agreed = world.run_until(300s, [&] { return world.agreed(); });
  out.push_back({"views equal after it ends", "s", agreed ? seconds(world.now() - end) : 300});
  return out;
}

}  // namespace headrace::sim
