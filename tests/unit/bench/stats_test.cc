#include "tools/bench/stats.h"

#include <catch2/catch.hpp>
#include <numeric>

using headrace::bench::median;
using headrace::bench::percentile;

TEST_CASE("a percentile is the sample of the nearest rank, whatever the order of the samples") {
  std::vector<int> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1);  // 100 down to 1
  for (int share = 1; share <= 100; ++share) {
    CHECK(percentile(samples, share / 100.0) == share);
  }
  CHECK(percentile(samples, 0.0) == 1);
  CHECK(percentile(samples, 0.991) == 100);
}

TEST_CASE("every percentile of a single sample is that sample") {
  CHECK(percentile(std::vector<double>{2.5}, 0.0) == 2.5);
  CHECK(percentile(std::vector<double>{2.5}, 0.5) == 2.5);
  CHECK(percentile(std::vector<double>{2.5}, 1.0) == 2.5);
}

TEST_CASE("a median of an even number of samples lies between the two in the middle") {
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({9, 1, 5, 6}) == 5.5);
}
