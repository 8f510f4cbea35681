#include "core/flow/split.h"

#include <algorithm>

namespace headrace {
namespace {

// Where the claim stands when every unit below `line` levels per weight has been handed out.
std::uint64_t raised(const Claim& claim, std::uint64_t line) {
  return std::max(claim.level, std::min(claim.cap, line * claim.weight));
}

std::uint64_t cost(const std::vector<Claim>& claims, std::uint64_t line) {
  std::uint64_t sum = 0;
  for (const auto& claim : claims) sum += raised(claim, line) - claim.level;
  return sum;
}

// The order in which claims get the next unit, worst first as a heap wants it.
bool after(const Claim* a, const Claim* b) {
  const auto left = a->level * b->weight;
  const auto right = b->level * a->weight;
  if (left != right) return left > right;
  const bool a_owns = a->owns > a->level;
  const bool b_owns = b->owns > b->level;
  if (a_owns != b_owns) return b_owns;
  return a->stamp > b->stamp;
}

}  // namespace

std::uint64_t split(std::vector<Claim>& claims, std::uint64_t amount) {
  std::uint64_t above = 1;  // everybody is served below this line
  for (const auto& claim : claims) above = std::max(above, claim.cap / claim.weight + 1);
  std::uint64_t line = 0;  // the highest that `amount` pays for
  while (line < above) {
    const auto middle = line + (above - line + 1) / 2;
    if (cost(claims, middle) <= amount) {
      line = middle;
    } else {
      above = middle - 1;
    }
  }
  amount -= cost(claims, line);
  std::vector<Claim*> hungry;
  for (auto& claim : claims) {
    claim.given = raised(claim, line) - claim.level;
    claim.level += claim.given;
    if (claim.level < claim.cap) hungry.push_back(&claim);
  }
  std::make_heap(hungry.begin(), hungry.end(), after);
  for (std::uint64_t turn = 1; amount > 0 && !hungry.empty(); ++turn, --amount) {
    std::pop_heap(hungry.begin(), hungry.end(), after);
    Claim& claim = *hungry.back();
    claim.won = turn;
    ++claim.given;
    if (++claim.level < claim.cap) {
      std::push_heap(hungry.begin(), hungry.end(), after);
    } else {
      hungry.pop_back();
    }
  }
  return amount;
}

}  // namespace headrace
