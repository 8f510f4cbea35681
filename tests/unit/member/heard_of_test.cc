// What a beacon leads to.
#include <catch2/catch.hpp>

#include "tests/unit/member/cluster.h"

using namespace headrace;
using namespace headrace::test;
using namespace std::chrono_literals;

namespace {

// The hellos that node `place` says when it hears that `other` is there.
std::size_t hellos(Cluster& cluster, std::size_t place, std::size_t other) {
  auto& node = cluster[place];
  node->take_outputs();
  node->heard_of(cluster.now, cluster[other].id, cluster[other].endpoint);
  std::size_t count = 0;
  for (const auto& output : node->take_outputs()) {
    const auto* send = std::get_if<SendMember>(&output);
    if (send == nullptr) continue;
    const auto message = wire::decode_member(send->message);
    REQUIRE(message);
    CHECK(std::holds_alternative<wire::Hello>(*message));
    CHECK(send->endpoint == cluster[other].endpoint);
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("two nodes without a seed know each other when one has heard of the other") {
  Cluster cluster(1);
  cluster.start(0);
  cluster.start(1);
  cluster.run(5s);
  CHECK_FALSE(cluster.agreed());
  cluster[0]->heard_of(cluster.now, cluster[1].id, cluster[1].endpoint);
  cluster.set_advert(0, "now");  // takes the mail out
  CHECK(cluster.run_until(1s, [&] { return cluster.agreed(); }));
}

TEST_CASE("only a stranger or a node believed dead is said hello to, and not at each beacon") {
  Cluster cluster(2);
  cluster.start(0);
  cluster.start(1, joins({0}));
  REQUIRE(cluster.run_until(5s, [&] { return cluster.agreed(); }));
  cluster.start(2);
  CHECK(hellos(cluster, 0, 0) == 0);
  CHECK(hellos(cluster, 0, 1) == 0);
  CHECK(hellos(cluster, 0, 2) == 1);
  CHECK(hellos(cluster, 0, 2) == 0);  // still waits for the answer
  cluster.crash(1);
  REQUIRE(cluster.run_until(120s, [&] { return cluster[0]->live() == 1; }));
  CHECK(hellos(cluster, 0, 1) == 1);
  cluster[0]->leave(cluster.now);
  CHECK(hellos(cluster, 0, 2) == 0);
}

TEST_CASE("of a large cluster some four say hello to a stranger that all have heard of") {
  constexpr std::size_t kMany = 100;
  Cluster cluster(3);
  cluster.start(0);
  for (std::size_t place = 1; place < kMany; ++place) cluster.start(place, joins({0}));
  REQUIRE(cluster.run_until(60s, [&] { return cluster.agreed(); }));
  cluster.start(kMany);
  std::size_t said = 0;
  for (std::size_t place = 0; place < kMany; ++place) said += hellos(cluster, place, kMany);
  CHECK(said >= 1);
  CHECK(said <= 12);
}
