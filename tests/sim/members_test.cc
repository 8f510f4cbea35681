// Membership alone: each scenario small in the ordinary run, and with a thousand members by tags.
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

// In six programs of ctest, so that two cores share them.
const std::vector<std::vector<std::string_view>> kThousand = {
    {"idle", "one-crash", "mass-crash", "stalled-members", "many-stalled", "mass-leave"},
    {"loss-1", "loss-5", "cut-pair", "cut-star", "one-way", "split-1s"},
    {"loss-10"},
    {"split-half", "split-one"},
    {"split-tenth", "split-5s"},
    {"join", "rolling-restart"},
};

void require_thousand(std::size_t part) {
  for (const auto& name : kThousand[part]) require_holds(request_of(name, 1'000, 7));
}

TEST_CASE("each scenario is run with a thousand members, too") {
  std::size_t count = 0;
  for (const auto& part : kThousand) {
    for (const auto& name : part) CHECK(find_member_scenario(name) != nullptr);
    count += part.size();
  }
  CHECK(count == member_scenarios().size());
}

TEST_CASE("a thousand: crashes and stalls", "[.][members-crashes]") { require_thousand(0); }
TEST_CASE("a thousand: links that fail", "[.][members-links]") { require_thousand(1); }
TEST_CASE("a thousand: much loss", "[.][members-loss]") { require_thousand(2); }
TEST_CASE("a thousand: halves apart", "[.][members-halves]") { require_thousand(3); }
TEST_CASE("a thousand: parts apart", "[.][members-parts]") { require_thousand(4); }
TEST_CASE("a thousand: joins and restarts", "[.][members-churn]") { require_thousand(5); }

TEST_CASE("without Lifeguard 1 % stalled of a thousand declare thousands dead",
          "[.][members-crashes]") {
  auto request = request_of("stalled-members", 1'000, 1);
  request.lifeguard = false;
  const auto outcome = run(request);
  CHECK_FALSE(outcome.holds());
  CHECK(figure(outcome, kFalseDeaths) > 2'000);
}

}  // namespace headrace::sim
