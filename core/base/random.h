// A seeded generator that is handed in, so that a seed repeats a run on every compiler and machine.
// Not for secrets. One owner; not thread-safe.
#pragma once

#include <cstdint>

namespace headrace {

class Random final {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();                            // uniform over 64 bits
  std::uint64_t below(std::uint64_t bound);        // uniform in [0, bound); bound > 0
  std::int64_t between(std::int64_t low, std::int64_t high);  // both ends included
  double unit();                                   // uniform in [0, 1)
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_[4];
};

}  // namespace headrace
