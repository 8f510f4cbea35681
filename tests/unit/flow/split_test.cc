#include "core/flow/split.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "core/base/random.h"

using headrace::Claim;
using headrace::Random;
using headrace::split;

namespace {

std::vector<std::uint64_t> levels(const std::vector<Claim>& claims) {
  std::vector<std::uint64_t> out;
  for (const auto& claim : claims) out.push_back(claim.level);
  return out;
}

// The definition, unit by unit: what split() does in bulk.
std::uint64_t split_slowly(std::vector<Claim>& claims, std::uint64_t amount) {
  for (; amount > 0; --amount) {
    Claim* best = nullptr;
    for (auto& claim : claims) {
      if (claim.level >= claim.cap) continue;
      if (best == nullptr) {
        best = &claim;
        continue;
      }
      const auto a = claim.level * best->weight;
      const auto b = best->level * claim.weight;
      const bool a_owns = claim.owns > claim.level;
      const bool b_owns = best->owns > best->level;
      const bool better = a != b ? a < b : (a_owns != b_owns) ? a_owns : claim.stamp < best->stamp;
      if (better) best = &claim;
    }
    if (best == nullptr) break;
    ++best->level;
  }
  return amount;
}

}  // namespace

TEST_CASE("the lowest is served first") {
  std::vector<Claim> claims(2);
  claims[0] = {.level = 5, .cap = 10};
  claims[1] = {.level = 1, .cap = 10};
  CHECK(split(claims, 6) == 0);
  CHECK(levels(claims) == std::vector<std::uint64_t>{6, 6});
}

TEST_CASE("nobody gets more than its cap, and the rest is returned") {
  std::vector<Claim> claims(2);
  claims[0] = {.level = 0, .cap = 2};
  claims[1] = {.level = 4, .cap = 3};
  CHECK(split(claims, 10) == 8);
  CHECK(levels(claims) == std::vector<std::uint64_t>{2, 4});
}

TEST_CASE("shares follow weights") {
  std::vector<Claim> claims(3);
  for (std::size_t i = 0; i < 3; ++i) claims[i] = {.cap = 100, .weight = 1ull << i};
  CHECK(split(claims, 70) == 0);
  CHECK(levels(claims) == std::vector<std::uint64_t>{10, 20, 40});
}

TEST_CASE("a tie goes to the owner, then to who won a tie longest ago") {
  std::vector<Claim> claims(3);
  claims[0] = {.cap = 5, .stamp = 2};
  claims[1] = {.cap = 5, .stamp = 1};
  claims[2] = {.cap = 5, .owns = 1, .stamp = 3};
  CHECK(split(claims, 1) == 0);
  CHECK(levels(claims) == std::vector<std::uint64_t>{0, 0, 1});
  CHECK(claims[2].won == 1);
  CHECK(split(claims, 1) == 0);
  CHECK(levels(claims) == std::vector<std::uint64_t>{0, 1, 1});
}

TEST_CASE("the split in bulk is the split unit by unit") {
  Random random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Claim> claims(random.below(6));
    for (auto& claim : claims) {
      claim.level = random.below(8);
      claim.cap = random.below(20);
      claim.owns = random.below(20);
      claim.stamp = random.next();
      claim.weight = 1 + random.below(3);
    }
    auto slowly = claims;
    const auto amount = random.below(60);
    const auto before = claims;
    REQUIRE(split(claims, amount) == split_slowly(slowly, amount));
    REQUIRE(levels(claims) == levels(slowly));
    for (std::size_t i = 0; i < claims.size(); ++i)
      REQUIRE(claims[i].given == claims[i].level - before[i].level);
  }
}
