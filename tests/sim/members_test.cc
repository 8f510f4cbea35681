// Membership alone: each scenario small in the ordinary run, and at a thousand members by the tag
// [members-1000].
#include <catch2/catch.hpp>
#include <sstream>

#include "tools/sim/members/command.h"

namespace headrace::sim {
namespace {

MemberRequest request_of(std::string_view name, Place members, std::uint64_t seed) {
  MemberRequest request;
  request.scenario = find_member_scenario(name);
  REQUIRE(request.scenario != nullptr);
  request.members = members;
  request.seed = seed;
  return request;
}

MemberOutcome run(const MemberRequest& request) { return run_members(request, nullptr, false); }

void require_holds(const MemberRequest& request) {
  const auto outcome = run(request);
  for (const auto& verdict : outcome.verdicts) {
    INFO(request.scenario->name << ", " << request.members << " members, seed "
                                << verdict.worst_seed << ": " << verdict.worst.name << " "
                                << verdict.worst.value << ", at most " << verdict.worst.at_most
                                << "; median " << verdict.median);
    CHECK(verdict.holds());
  }
}

double figure(const MemberOutcome& outcome, std::string_view name) {
  for (const auto& verdict : outcome.verdicts) {
    if (verdict.worst.name == name) return verdict.worst.value;
  }
  FAIL("no figure " << name);
  return 0;
}

constexpr std::string_view kFalseDeaths = "healthy members declared dead, over all views";

}  // namespace

TEST_CASE("in every scenario sixty members keep to their figures") {
  for (const auto& scenario : member_scenarios()) {
    auto request = request_of(scenario.name, 60, 1);
    request.seeds = 2;
    require_holds(request);
  }
}

TEST_CASE("with the fast profile a crash among a hundred is known within eight seconds") {
  auto request = request_of("one-crash", 100, 1);
  request.profile = "fast";
  request.seeds = 5;
  require_holds(request);
}

TEST_CASE("without Lifeguard stalled members have healthy ones declared dead") {
  auto request = request_of("many-stalled", 100, 1);
  CHECK(figure(run(request), kFalseDeaths) == 0);
  request.lifeguard = false;
  const auto outcome = run(request);
  CHECK_FALSE(outcome.holds());
  CHECK(figure(outcome, kFalseDeaths) > 100);
}

TEST_CASE("a seed gives the same trace each time, and another seed another") {
  for (const auto* name : {"one-crash", "join", "split-tenth"}) {
    const auto hash = run(request_of(name, 50, 3)).hash;
    CHECK(run(request_of(name, 50, 3)).hash == hash);
    CHECK(run(request_of(name, 50, 4)).hash != hash);
  }
}

TEST_CASE("a trace says who believes what") {
  std::ostringstream trace;
  run_members(request_of("one-crash", 10, 1), &trace, false);
  CHECK(trace.str().find(" sees ") != std::string::npos);
  CHECK(trace.str().find(" dead\n") != std::string::npos);
}

TEST_CASE("in every scenario a thousand members keep to their figures", "[.][members-1000]") {
  for (const auto& scenario : member_scenarios()) {
    require_holds(request_of(scenario.name, 1'000, 1));
  }
}

TEST_CASE("without Lifeguard 1 % stalled of a thousand declare thousands dead",
          "[.][members-1000]") {
  auto request = request_of("stalled-members", 1'000, 1);
  request.lifeguard = false;
  const auto outcome = run(request);
  CHECK_FALSE(outcome.holds());
  CHECK(figure(outcome, kFalseDeaths) > 2'000);
}

}  // namespace headrace::sim
