// Nothing, crashes, and members that stall.
#include <algorithm>
#include <memory>

#include "tools/sim/members/plays.h"
#include "tools/sim/members/plays_common.h"

namespace headrace::sim {

using namespace std::chrono_literals;

MemberFigures play_idle(MemberWorld& world) {
  constexpr auto kTime = 300s;
  settle(world);
  world.run(kTime);
  const auto& watch = world.watch;
  const auto busy = busier(world.profile());
  const auto probes = watch.messages() - watch.sync_messages();
  return {
      count_of("suspicions", watch.suspicions, 0),
      count_of("deaths", watch.deaths, 0),
      {"messages a member and second, syncs apart", "", per_node_and_second(world, probes, kTime),
       2.1 * busy},
      {"sent by a member", "kB/s", per_node_and_second(world, watch.bytes(), kTime) / 1e3,
       (large(world) ? 4.0 : 1.0) * busy},
  };
}

namespace {

// All crash at once; until everybody left knows of each. The world goes on a while after that.
MemberFigures crash(MemberWorld& world, const std::vector<Place>& places, double within) {
  for (const Place place : places) {
    world.watch.excused[place] = true;
    world.crash(place);
  }
  const auto start = world.now();
  const auto known = [&](Place place) {
    return world.watch.declared_by(place) == world.up_count();
  };
  world.run_until(std::chrono::seconds{static_cast<long>(4 * within)},
                  [&] { return std::all_of(places.begin(), places.end(), known); });
  MonoTime first = kNever;
  MonoTime last{};
  for (const Place place : places) {
    first = std::min(first, world.watch.first_suspected(place));
    last = std::max(last, known(place) ? world.watch.last_declared(place) : kNever);
  }
  Figure suspected{"first suspected after", "s", seconds(first - start)};
  Figure all{"known to all after", "s", seconds(last - start), within};
  MemberFigures out{suspected, all, false_deaths(world)};
  world.run(20s);
  out.back() = false_deaths(world);
  return out;
}

}  // namespace

MemberFigures play_one_crash(MemberWorld& world) {
  settle(world);
  auto out = crash(world, pick(world, 1), known_within(world));
  const double slow = slower(world.profile());
  // Whom nobody happens to probe is not suspected: one in a thousand waits for 8 s.
  out[0].at_most = 10 * slow;
  out[0].median_at_most = 5 * slow;
  out[1].median_at_most = (large(world) ? 20 : 15.5) * slow;
  return out;
}

MemberFigures play_mass_crash(MemberWorld& world) {
  settle(world);
  const double slow = slower(world.profile());
  const auto places = pick(world, percent(world, large(world) ? 1 : 10));
  auto out = crash(world, places, (large(world) ? 28 : 24) * slow);
  out.push_back(peak(world, 64 * busier(world.profile())));
  return out;
}

namespace {

constexpr Nanos kCycle = 20s;
constexpr Nanos kBlocked = 15s;

MemberFigures stall(MemberWorld& world, Place share) {
  settle(world);
  // Where in its cycle each begins; negative for those that never stall.
  std::vector<Nanos> begins(world.size(), Nanos{-1});
  for (const Place place : pick(world, percent(world, share))) {
    begins[place] = Nanos{world.random.between(0, kCycle.count())};
    world.watch.excused[place] = true;
  }
  const auto start = world.now();
  world.network.free_at = [begins = std::move(begins), start](Place place, MonoTime now) {
    if (begins[place] < Nanos{0}) return now;
    const Nanos into = (now - start + begins[place]) % kCycle;
    return into < kBlocked ? now + (kBlocked - into) : now;
  };
  world.run(120s);
  const auto right = world.watch.deaths - world.watch.false_deaths;
  MemberFigures out{false_deaths(world), count_of("stalled ones declared dead", right),
                    peak(world, Figure::kAny)};
  world.network.free_at = nullptr;
  const auto end = world.now();
  const bool agreed = world.run_until(120s, [&] { return world.agreed(); });
  out.push_back({"views equal after it ends", "s", agreed ? seconds(world.now() - end) : 120, 30});
  out.front() = false_deaths(world);
  return out;
}

}  // namespace

MemberFigures play_stalled(MemberWorld& world) { return stall(world, 1); }

MemberFigures play_many_stalled(MemberWorld& world) { return stall(world, 5); }

}  // namespace headrace::sim
