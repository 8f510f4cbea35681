// Every promise holds in every scenario, for a fixed list of seeds.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tools/sim/world.h"

namespace headrace::sim {
namespace {

constexpr std::uint64_t kOrdinary = 20;    // seeds of each scenario, from 1
constexpr std::uint64_t kLongFrom = 1000;  // where the longer list begins

std::uint64_t longer_list() {
  const char* text = std::getenv("HEADRACE_SEEDS");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

std::string told(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < kChecks; ++i) {
    for (const auto& what : report.broken[i]) {
      text += std::string(name_of(static_cast<Check>(i))) + ": " + what + "\n";
    }
  }
  return text;
}

void expect_all(std::uint64_t first, std::uint64_t count) {
  for (const auto& scenario : scenarios()) {
    for (auto seed = first; seed < first + count; ++seed) {
      const auto report = World(scenario, seed, Plant::kNone, nullptr).run();
      INFO("headrace-sim --scenario " << scenario.name << " --seed " << seed);
      INFO(told(report));
      REQUIRE(report.holds());
      REQUIRE(report.figures.runs > 0);
    }
  }
}

Report run(std::string_view name, std::uint64_t seed) {
  return World(*find_scenario(name), seed, Plant::kNone, nullptr).run();
}

TEST_CASE("every promise holds in every scenario") { expect_all(1, kOrdinary); }

TEST_CASE("every promise holds in every scenario for many seeds", "[.][seeds]") {
  expect_all(kLongFrom, longer_list());
}

TEST_CASE("the same seed gives the same run, another seed another") {
  for (const auto& scenario : scenarios()) {
    INFO(scenario.name);
    const auto once = run(scenario.name, 7), again = run(scenario.name, 7);
    REQUIRE(once.hash == again.hash);
    REQUIRE(once.figures.events == again.figures.events);
    REQUIRE(run(scenario.name, 8).hash != once.hash);
  }
}

TEST_CASE("faults really happen in the scenarios that are named after them") {
  REQUIRE(run("lossy", 1).figures.frames_lost > 0);
  REQUIRE(run("partition", 1).figures.frames_lost > 0);
  const auto retried = run("retries", 1).figures;
  REQUIRE(retried.runs > retried.jobs);
}

}  // namespace
}  // namespace headrace::sim
