#include "core/base/random.h"

#include <catch2/catch.hpp>

using headrace::Random;

TEST_CASE("a seed repeats its numbers and another seed gives others") {
  Random a(7);
  Random b(7);
  Random c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto value = a.next();
    CHECK(value == b.next());
    differs = differs || value != c.next();
  }
  CHECK(differs);
}

TEST_CASE("bounded numbers keep their bounds and reach both ends") {
  Random random(1);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.between(-3, 3);
    REQUIRE(value >= -3);
    REQUIRE(value <= 3);
    low = low || value == -3;
    high = high || value == 3;
    REQUIRE(random.below(5) < 5);
    REQUIRE(random.unit() < 1.0);
  }
  CHECK(low);
  CHECK(high);
}
