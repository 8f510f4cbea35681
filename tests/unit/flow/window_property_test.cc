#include <catch2/catch.hpp>
#include <cstdlib>

#include "window_runs.h"

using namespace headrace;
using namespace headrace::flow_test;

namespace {

std::uint64_t seeds(std::uint64_t ordinary) {
  const char* asked = std::getenv("HEADRACE_SEEDS");
  return asked == nullptr ? ordinary : std::strtoull(asked, nullptr, 10);
}

}  // namespace

TEST_CASE("windows keep every promise under losses, repeats, delays, crashes, stalls and rumours") {
  std::int64_t steps = 0;
  const auto count = seeds(5000);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const auto breach = random_run(seed, &steps);
    INFO("seed " << seed);
    REQUIRE(breach == "");
  }
  INFO(steps << " steps");
  CHECK(steps > static_cast<std::int64_t>(100 * count));
}
