#include "core/base/random.h"

#include <bit>

#include "core/base/check.h"

namespace headrace {

// xoshiro256**, seeded by splitmix64: both are public-domain algorithms with fixed integer results.
Random::Random(std::uint64_t seed) {
  for (auto& word : state_) {
    seed += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  HEADRACE_CHECK(bound > 0);
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value < limit) return value % bound;
  }
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  HEADRACE_CHECK(low <= high);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t offset = span == 0 ? next() : below(span);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Random::unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

}  // namespace headrace
