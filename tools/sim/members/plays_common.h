// Figures and acts that several plays share.
#pragma once

#include <vector>

#include "tools/sim/members/bounds.h"
#include "tools/sim/members/figure.h"
#include "tools/sim/members/world.h"

namespace headrace::sim {

inline Figure count_of(std::string name, std::uint64_t value, double at_most = Figure::kAny) {
  return {std::move(name), "", static_cast<double>(value), at_most};
}

inline Figure false_deaths(const MemberWorld& world) {
  return count_of("healthy members declared dead, over all views", world.watch.false_deaths, 0);
}

inline Figure peak(MemberWorld& world, double kilobytes) {
  return {"sent in the busiest second, mean of all", "kB",
          static_cast<double>(world.watch.peak_bytes()) / 1e3, kilobytes};
}

inline double per_node_and_second(const MemberWorld& world, std::uint64_t sum, Nanos time) {
  return static_cast<double>(sum) / world.size() / seconds(time);
}

// Everybody is up, knows everybody and has been so for a while; counting begins.
void settle(MemberWorld& world);

// `count` different places, at random.
std::vector<Place> pick(MemberWorld& world, Place count);

// A share of all, at least one.
inline Place percent(const MemberWorld& world, Place share) {
  return std::max<Place>(1, world.size() * share / 100);
}

}  // namespace headrace::sim
