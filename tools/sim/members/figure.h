// Figure: one number that a run of a member scenario gives, and what it must keep to.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace headrace::sim {

struct Figure {
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  std::string name;
  std::string unit;  // "" for a count
  double value = 0;
  double at_most = kAny;         // in each run
  double median_at_most = kAny;  // over several seeds

  bool holds() const { return value <= at_most; }
};

using MemberFigures = std::vector<Figure>;

// One figure over several seeds.
struct Verdict {
  Figure worst;  // with the largest value
  double median = 0;
  std::uint64_t worst_seed = 0;
  bool judges_median = false;

  bool holds() const { return worst.holds() && (!judges_median || median <= worst.median_at_most); }
};

}  // namespace headrace::sim
