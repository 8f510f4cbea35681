// A checker that never fails checks nothing: each is shown a world with a mistake in it.
#include <catch2/catch.hpp>

#include "tools/sim/world.h"

namespace headrace::sim {
namespace {

// True if one of the first seeds shows the mistake to the checker that is there for it.
bool caught(std::string_view name, Plant plant, Check check) {
  const Scenario& scenario = *find_scenario(name);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto report = World(scenario, seed, plant, nullptr).run();
    if (!report.broken[static_cast<std::size_t>(check)].empty()) return true;
  }
  return false;
}

TEST_CASE("a disk that says synced too soon is caught") {
  REQUIRE(caught("steady", Plant::kCommitsTooSoon, Check::kBeforeCommit));
}

TEST_CASE("a write that the disk forgets is caught as a lost job") {
  REQUIRE(caught("owner-crash", Plant::kLosesWrites, Check::kNothingLost));
}

TEST_CASE("an outcome that changes is caught") {
  REQUIRE(caught("steady", Plant::kRewritesOutcomes, Check::kOneOutcome));
}

TEST_CASE("a job that runs twice for nothing is caught") {
  REQUIRE(caught("steady", Plant::kRunsTwice, Check::kNeedlessRuns));
}

TEST_CASE("completions that never arrive are caught as jobs that do not end") {
  REQUIRE(caught("steady", Plant::kSwallowsEnds, Check::kAllDone));
}

TEST_CASE("a payload that changes on its way is caught") {
  REQUIRE(caught("steady", Plant::kSpoilsPayloads, Check::kWhole));
}

TEST_CASE("a call that is answered twice is caught") {
  REQUIRE(caught("steady", Plant::kAnswersTwice, Check::kAnswers));
}

TEST_CASE("a machine that hears nobody is caught as a view apart") {
  REQUIRE(caught("steady", Plant::kDeafMachine, Check::kViews));
}

TEST_CASE("a consumer that holds more than its mark is caught") {
  REQUIRE(caught("steady", Plant::kHalvesMarks, Check::kHighWater));
}

TEST_CASE("a job that is handed out without end is caught") {
  REQUIRE(caught("steady", Plant::kCountsDeliveries, Check::kDeliveries));
}

TEST_CASE("talk of jobs when there are none is caught") {
  REQUIRE(caught("steady", Plant::kTalksAtRest, Check::kRest));
}

TEST_CASE("a frame that cannot be read is caught") {
  REQUIRE(caught("steady", Plant::kGarblesFrames, Check::kProtocol));
}

}  // namespace
}  // namespace headrace::sim
