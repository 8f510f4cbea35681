// Runs the simulated world with a mistake planted into the window. Succeeds if the mistake is
// found: by the random runs ("plant caught SEEDS"), or by a cost beyond its bound ("plant cost
// NAME").
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "window_runs.h"

using namespace headrace::flow_test;

namespace {

int caught(std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto breach = random_run(seed);
    if (breach.empty()) continue;
    std::printf("caught by seed %llu: %s\n", static_cast<unsigned long long>(seed), breach.c_str());
    return 0;
  }
  std::printf("not caught in %llu runs\n", static_cast<unsigned long long>(seeds));
  return 1;
}

int costs(const char* name) {
  for (const auto& bound : cost_bounds()) {
    if (std::strcmp(bound.name, name) != 0) continue;
    const double value = bound.measure();
    std::printf("%s: %.3f, the bound is %.3f\n", name, value, bound.bound);
    return bound.keeps(value) ? 1 : 0;
  }
  std::printf("no such cost: %s\n", name);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::strcmp(argv[1], "caught") == 0) return caught(std::strtoull(argv[2], nullptr, 10));
  return costs(argv[2]);
}
