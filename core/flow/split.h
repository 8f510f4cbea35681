// Max-min split of places: hands out units one at a time, each to the claim with the lowest level
// per weight. Done in bulk, so that its cost follows the claims and not the units.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace {

struct Claim {
  std::uint64_t level = 0;  // what it has, before and after
  std::uint64_t cap = 0;    // it takes no more than this
  std::uint64_t owns = 0;   // at a tie who owns more than the level goes first,
  std::uint64_t stamp = 0;  // then the lowest stamp
  std::uint64_t weight = 1;
  std::uint64_t given = 0;  // out: units it got
  std::uint64_t won = 0;    // out: when it last won a tie in this split, from 1; 0: never
};

// Hands out at most `amount`; returns what nobody would take.
std::uint64_t split(std::vector<Claim>& claims, std::uint64_t amount);

}  // namespace headrace
