// Order statistics of measured samples. Samples are taken by value, because finding a rank reorders
// them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/base/check.h"

namespace headrace::bench {

// The smallest sample that at least the share `q` of all samples does not exceed (nearest rank):
// percentile(s, 0.99) of 100 samples is the 99th smallest. 0 <= q <= 1; there must be a sample.
template <typename T>
T percentile(std::vector<T> samples, double q) {
  HEADRACE_CHECK(!samples.empty() && q >= 0 && q <= 1);
  // The product is a hair off the whole number it stands for: 0.07 * 100 is 7.000000000000001.
  double rank = std::ceil(q * static_cast<double>(samples.size()) - 1e-9);
  auto index = rank < 1 ? std::size_t{0} : static_cast<std::size_t>(rank) - 1;
  auto at = samples.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

// The middle sample, or the mean of the two in the middle. There must be a sample.
inline double median(std::vector<double> samples) {
  HEADRACE_CHECK(!samples.empty());
  std::sort(samples.begin(), samples.end());
  std::size_t half = samples.size() / 2;
  return samples.size() % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

}  // namespace headrace::bench
