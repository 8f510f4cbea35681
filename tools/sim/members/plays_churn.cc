// Members that come, go and start again.
#include <algorithm>

#include "tools/sim/members/plays.h"
#include "tools/sim/members/plays_common.h"

namespace headrace::sim {

using namespace std::chrono_literals;

namespace {

constexpr Place kSeeds = 3;

// What somebody has to know, and since when: looked at again and again until all know it.
class Pending final {
 public:
  void add(Place place, MonoTime since) { waiting_.push_back({place, since}); }
  bool empty() const { return waiting_.empty(); }
  // `known(place)` holds for those that are done.
  template <typename Known>
  void check(MonoTime now, Known&& known) {
    std::erase_if(waiting_, [&](const One& one) {
      if (!known(one.place)) return false;
      longest_ = std::max<Nanos>(longest_, now - one.since);
      return true;
    });
  }
  Nanos longest(MonoTime now) const {
    Nanos longest = longest_;
    for (const auto& one : waiting_) longest = std::max<Nanos>(longest, now - one.since);
    return longest;
  }

 private:
  struct One {
    Place place;
    MonoTime since;
  };
  std::vector<One> waiting_;
  Nanos longest_{};
};

// Whether `fits(record)` for each view of `place`, absent ones (null) too.
template <typename Fits>
bool everywhere(const MemberWorld& world, Place place, Fits&& fits) {
  for (Place viewer = 0; viewer < world.size(); ++viewer) {
    if (viewer == place || !world.takes_part(viewer)) continue;
    if (!fits(world[viewer].find(world.id(place)))) return false;
  }
  return true;
}

std::vector<Place> seeds_of(const MemberWorld& world) {
  std::vector<Place> seeds;
  for (Place place = 0; place < std::min(kSeeds, world.size()); ++place) seeds.push_back(place);
  return seeds;
}

}  // namespace

MemberFigures play_join(MemberWorld& world) {
  const auto seeds = seeds_of(world);
  for (const Place seed : seeds) world.start(seed, seeds);
  world.run(5s);
  world.watch.reset(world.now());
  const Nanos step = Nanos{10s} / world.size();
  for (Place place = kSeeds; place < world.size(); ++place) {
    world.run(step);
    world.start(place, seeds);
  }
  const auto last = world.now();
  const bool agreed = world.run_until(120s, [&] { return world.agreed(); });
  const auto took = world.now() - last;
  MemberFigures out{
      {"all know all after the last join", "s", agreed ? seconds(took) : 120, 10},
      {"sent by a seed in its busiest second", "MB",
       static_cast<double>(world.watch.peak_bytes_of_one(kSeeds)) / 1e6, 2},
      peak(world, Figure::kAny),
  };
  world.run(30s);
  out.push_back(false_deaths(world));
  return out;
}

MemberFigures play_rolling_restart(MemberWorld& world) {
  constexpr Nanos kBetween = 200ms;
  constexpr Nanos kDown = 150ms;
  settle(world);
  const auto seeds = seeds_of(world);
  Pending stale;
  const auto known = [&](Place place) {
    return everywhere(world, place, [&](const MemberRecord* record) {
      return record == nullptr || record->life->incarnation == world.incarnation(place);
    });
  };
  for (const Place place : pick(world, world.size())) {
    world.crash(place);
    world.run(kDown);
    world.start(place, seeds);
    stale.add(place, world.now());
    world.run(kBetween - kDown);
    stale.check(world.now(), known);
  }
  const auto last = world.now();
  const bool agreed = world.run_until(60s, [&] {
    stale.check(world.now(), known);
    return world.agreed();
  });
  MemberFigures out{
      {"an earlier life is believed in for", "s", seconds(stale.longest(world.now())), 5},
      {"views equal after the last restart", "s", agreed ? seconds(world.now() - last) : 60, 10},
      peak(world, Figure::kAny),
  };
  world.run(30s);
  out.push_back(false_deaths(world));
  return out;
}

MemberFigures play_mass_leave(MemberWorld& world) {
  constexpr Nanos kLinger = 1s;
  settle(world);
  const auto places = pick(world, world.size() / 2);
  const Nanos step = Nanos{10s} / places.size();
  const auto lingering = static_cast<std::size_t>(kLinger / step);
  Pending leaving;
  const auto known = [&](Place place) {
    return everywhere(world, place, [](const MemberRecord* record) {
      return record != nullptr && record->state == MemberState::kLeft;
    });
  };
  MonoTime looked = world.now();
  for (std::size_t i = 0; i < places.size() + lingering; ++i) {
    if (i < places.size()) {
      world.leave(places[i]);
      leaving.add(places[i], world.now());
    }
    world.run(step);
    if (i >= lingering) world.crash(places[i - lingering]);
    if (world.now() - looked < 50ms) continue;
    looked = world.now();
    leaving.check(world.now(), known);
  }
  world.run_until(60s, [&] {
    leaving.check(world.now(), known);
    return leaving.empty();
  });
  MemberFigures out{
      {"known to all as left after", "s", seconds(leaving.longest(world.now())), 3},
      peak(world, Figure::kAny),
  };
  world.run(60s);
  out.push_back(count_of("declared dead, over all views", world.watch.deaths, 0));
  out.push_back(count_of("views apart at the end", world.agreed() ? 0 : 1, 0));
  return out;
}

}  // namespace headrace::sim
