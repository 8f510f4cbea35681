// Who is there: how nodes meet, and meet again.
#include <catch2/catch.hpp>

#include "tests/unit/member/cluster.h"

using namespace headrace;
using namespace headrace::test;
using namespace std::chrono_literals;

TEST_CASE("two nodes know each other and their adverts a few round trips after the hello") {
  Cluster cluster(1);
  cluster.delay_min = cluster.delay_max = 1ms;
  cluster.start(0);
  CHECK(cluster[0]->ready());  // it has no seeds
  cluster.run(3s);
  cluster.start(1, joins({0}));
  CHECK_FALSE(cluster[1]->ready());
  CHECK(cluster.run_until(10ms, [&] { return cluster.agreed() && cluster[1]->ready(); }));
}

TEST_CASE("a cluster of fifty is complete in a second, and who is ready knows all adverts") {
  Cluster cluster(2);
  form(cluster, 49);
  cluster.run(1s);
  auto& last = cluster.start(49, joins({0, 1, 2}));
  REQUIRE(cluster.run_until(1s, [&] { return last->ready(); }));
  for (std::size_t place = 0; place < 49; ++place) {
    CHECK(last->advert(cluster[place].id) == cluster[place].advert);
  }
  CHECK(cluster.run_until(1s, [&] { return cluster.agreed(); }));
  CHECK(cluster.deaths_seen() == 0);
}

TEST_CASE("a node that starts again is told apart by its incarnation, and its advert with it") {
  Cluster cluster(10);
  form(cluster, 5);
  cluster.crash(2);
  cluster.run(200ms);
  cluster[0].events.clear();
  cluster.start(2, joins({0}));
  cluster.set_advert(2, "second life");
  REQUIRE(cluster.run_until(2s, [&] { return cluster.agreed(); }));
  const auto restarts = cluster.count(0, [&](const MemberOutput& output) {
    const auto* restart = std::get_if<MemberRestarted>(&output);
    return restart != nullptr && restart->id == cluster[2].id && restart->before == 1 &&
           restart->now == 2;
  });
  CHECK(restarts == 1);
  CHECK(cluster.deaths_seen() == 0);
}

TEST_CASE("a node that comes back on another address after its death is accepted") {
  Cluster cluster(11);
  form(cluster, 4);
  cluster.crash(2);
  REQUIRE(cluster.run_until(20s, [&] { return cluster.all_see(2, MemberState::kDead); }));
  auto options = joins({0});
  options.endpoint = "tcp://10.9.9.9";
  cluster.start(2, options);
  CHECK(cluster.run_until(2s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a node started before its seed joins when the seed comes") {
  Cluster cluster(12);
  cluster.start(1, joins({0}));
  cluster.run(120s);
  CHECK_FALSE(cluster[1]->ready());
  cluster.start(0);
  CHECK(cluster.run_until(6s, [&] { return cluster.agreed() && cluster[1]->ready(); }));
}

TEST_CASE("a seed that is away delays nobody whom another seed answers") {
  Cluster cluster(13);
  cluster.start(0);
  cluster.start(1, joins({0, 2}));
  CHECK(cluster.run_until(1s, [&] { return cluster[1]->ready(); }));
  CHECK(cluster.agreed());
}

TEST_CASE("a node with many seeds is ready once it has compared its view with each") {
  Cluster cluster(15);
  for (std::size_t place = 0; place < 8; ++place) cluster.start(place);  // not yet one cluster
  auto& last = cluster.start(8, joins({0, 1, 2, 3, 4, 5, 6, 7}));
  REQUIRE(cluster.run_until(2s, [&] { return last->ready(); }));
  CHECK(last->live() == 9);
}

TEST_CASE("a node that is its own only seed is ready at once") {
  Cluster cluster(14);
  cluster.start(0, joins({0}));
  CHECK(cluster[0]->ready());
  CHECK(cluster.sent == 0);
}

TEST_CASE("a seed under another name of the node itself is found out by the hello") {
  Random random(1);
  MembershipOptions options;
  options.id = NodeId::from_halves(1, 1);
  options.incarnation = 1;
  options.about.control_endpoint = "tcp://127.0.0.1:7420";
  options.seeds = {"tcp://localhost:7420"};
  Membership membership(options, random);
  const MonoTime now{1h};
  membership.start(now);
  CHECK_FALSE(membership.ready());
  const auto outputs = membership.take_outputs();
  REQUIRE(outputs.size() == 1);
  REQUIRE(membership.receive(now, options.id, std::get<SendMember>(outputs[0]).message));
  CHECK(membership.ready());
  CHECK(membership.next_timer() == kNever);
}

TEST_CASE("a node rejoins through the peers it remembers, and does not wait for them") {
  Cluster cluster(15);
  form(cluster, 3);
  cluster.crash(2);
  cluster.run(100ms);
  Cluster::Options options;
  options.remembered = {7, 1};
  cluster.start(2, options);
  CHECK(cluster[2]->ready());
  CHECK(cluster.run_until(1s, [&] { return cluster.agreed(); }));
}

TEST_CASE("as many members as the limit says are taken, and one more is refused and noted") {
  Cluster cluster(33);
  cluster.start(0);
  auto& node = cluster[0];
  const auto about = std::make_shared<const wire::Description>();
  const auto meet = [&](std::uint64_t first, std::uint64_t count) {
    wire::Gossip gossip;
    for (auto n = first; n < first + count; ++n) {
      wire::Update update;
      update.id = NodeId::from_halves(1'000'000 + n, 1);
      update.numbers = {1, 0};
      update.about = about;
      gossip.updates.push_back(update);
    }
    REQUIRE(node->receive(cluster.now, gossip.updates[0].id, wire::encode_member(gossip)));
  };
  std::uint64_t met = 0;
  for (; met + 1000 < limits::kMembers; met += 1000) meet(met, 1000);
  meet(met, limits::kMembers - 1 - met);
  CHECK(node->members().size() == limits::kMembers);
  node->take_outputs();
  meet(limits::kMembers, 2);
  CHECK(node->members().size() == limits::kMembers);
  const auto outputs = node->take_outputs();
  REQUIRE(outputs.size() == 1);  // noted once
  CHECK(std::holds_alternative<MemberNote>(outputs[0]));
}

TEST_CASE("nodes without a store that forgot each other meet again at their seed") {
  Cluster cluster(31);
  Cluster::Options options;
  options.has_store = false;
  cluster.start(0, options);
  options.seeds = {0};
  cluster.start(1, options);
  REQUIRE(cluster.run_until(1s, [&] { return cluster.agreed(); }));
  cluster.cut = [](auto, auto) { return true; };
  cluster.run(600s);
  REQUIRE(cluster[1]->members().size() == 1);
  REQUIRE(cluster[0]->members().size() == 1);
  cluster.cut = [](auto, auto) { return false; };
  CHECK(cluster.run_until(6s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a node that others do not know is known again after its first ping") {
  Cluster cluster(24);
  form(cluster, 3);
  // Started anew without any memory, while the others go on.
  cluster.crash(0);
  cluster.start(0);
  CHECK(cluster.run_until(10s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a node of another protocol version is refused with a reason") {
  Cluster cluster(27);
  cluster.start(0);
  auto about = std::make_shared<wire::Description>();
  about->control_endpoint = "tcp://10.0.0.9";
  about->protocol_min = about->protocol_max = 9;
  wire::Hello hello;
  hello.round = 5;
  hello.self.id = NodeId::from_halves(9, 9);
  hello.self.numbers.incarnation = 1;
  hello.self.about = about;
  REQUIRE(cluster[0]->receive(cluster.now, hello.self.id, wire::encode_member(hello)));
  const auto outputs = cluster[0]->take_outputs();
  REQUIRE(outputs.size() == 1);
  const auto reply = wire::decode_member(std::get<SendMember>(outputs[0]).message);
  REQUIRE(std::holds_alternative<wire::Reject>(*reply));
  CHECK(std::get<wire::Reject>(*reply).reason == wire::RejectReason::kVersion);
  CHECK(cluster[0]->members().size() == 1);
}
