// Who is not: crashes, leaves, partitions, loss; and how views agree again.
#include <catch2/catch.hpp>

#include "core/wire/kinds.h"
#include "tests/unit/member/cluster.h"

using namespace headrace;
using namespace headrace::test;
using namespace std::chrono_literals;

namespace {

bool changed_to(const MemberOutput& output, NodeId id, MemberState state) {
  const auto* changed = std::get_if<MemberChanged>(&output);
  return changed != nullptr && changed->id == id && changed->after == state &&
         changed->what == MemberChanged::What::kState;
}

}  // namespace

TEST_CASE("a change of an advert is everywhere within a second at fifty members") {
  Cluster cluster(3);
  form(cluster, 50);
  cluster.run(5s);
  cluster.set_advert(17, "changed");
  CHECK(cluster.run_until(1s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a large advert travels in chunks below the limit, also over a lossy network") {
  Cluster cluster(4);
  form(cluster, 3);
  cluster.loss = 0.05;
  Bytes large;
  Random random(9);
  while (large.size() < 700'000) large.push_back(static_cast<char>(random.next()));
  cluster.set_advert(1, large);
  CHECK(cluster.run_until(60s, [&] { return cluster.agreed(); }));
  CHECK(cluster.largest < limits::kAdvertChunkBytes + 200);
}

TEST_CASE("an advert is had from another member when the node itself is out of reach") {
  Cluster cluster(5);
  form(cluster, 4);
  cluster.cut = [](std::size_t from, std::size_t to) {
    return (from == 1 && to == 2) || (from == 2 && to == 1);
  };
  cluster.set_advert(1, "news");
  CHECK(cluster.run_until(5s, [&] { return cluster[2]->advert(cluster[1].id) == "news"; }));
}

TEST_CASE("a node that crashes is suspected, then dead, and nobody else is") {
  Cluster cluster(6);
  form(cluster, 10);
  cluster.crash(4);
  const auto id = cluster[4].id;
  CHECK(cluster.run_until(
      5s, [&] { return cluster[0].membership->find(id)->state == MemberState::kSuspect; }));
  CHECK(cluster.run_until(15s, [&] { return cluster.all_see(4, MemberState::kDead); }));
  CHECK(cluster.agreed());
  for (std::size_t place = 0; place < 10; ++place) {
    if (place == 4) continue;
    INFO(place);
    CHECK(cluster.count(
              place, [&](const auto& o) { return changed_to(o, id, MemberState::kSuspect); }) == 1);
  }
  CHECK(cluster.deaths_seen() == 9);
}

TEST_CASE("a refused connection makes a crash known within two seconds") {
  const std::size_t size = GENERATE(2, 3, 10);
  Cluster cluster(7);
  form(cluster, size);
  cluster.run(5s);
  cluster.crash(1);
  cluster[0]->link_refused(cluster.now, cluster[1].id);
  CHECK(cluster.run_until(2s, [&] { return cluster.all_see(1, MemberState::kDead); }));
}

TEST_CASE("a refused connection kills nobody whom others reach") {
  Cluster cluster(8);
  form(cluster, 5);
  cluster.cut = [](std::size_t from, std::size_t to) { return from + to == 1; };  // 0 and 1
  for (int i = 0; i < 20; ++i) {
    cluster[0]->link_refused(cluster.now, cluster[1].id);
    cluster.run(1s);
  }
  CHECK(cluster.deaths_seen() == 0);
}

TEST_CASE("who leaves before its seed has answered is known there as left, not dead") {
  Cluster cluster(5);
  cluster.start(0);
  cluster.cut = [](std::size_t from, std::size_t to) { return from == 0 && to == 1; };
  const auto id = cluster.start(1, joins({0})).id;
  REQUIRE(
      cluster.run_until(std::chrono::seconds(2), [&] { return cluster[0]->find(id) != nullptr; }));
  REQUIRE(cluster[1]->find(cluster[0].id) == nullptr);
  cluster.leave(1);
  CHECK(cluster.run_until(std::chrono::seconds(1),
                          [&] { return cluster[0]->find(id)->state == MemberState::kLeft; }));
}

TEST_CASE("a graceful leave is known to all within a second as left, not dead") {
  Cluster cluster(9);
  form(cluster, 20);
  cluster.leave(3);
  CHECK(cluster.run_until(1s, [&] { return cluster.all_see(3, MemberState::kLeft); }));
  cluster.run(500ms);
  cluster.crash(3);
  cluster.run(30s);
  CHECK(cluster.all_see(3, MemberState::kLeft));
  CHECK(cluster.deaths_seen() == 0);
}

TEST_CASE("a member answers only so many syncs a second, and whoever has the same view always") {
  Cluster cluster(17);
  cluster.start(0);
  auto& node = cluster[0];
  const auto about = std::make_shared<const wire::Description>();
  wire::Gossip gossip;
  for (std::uint64_t n = 0; n < 1'000; ++n) {
    wire::Update update;
    update.id = NodeId::from_halves(1'000'000 + n, 1);
    update.numbers = {1, 0};
    update.about = about;
    gossip.updates.push_back(update);
  }
  const auto from = gossip.updates[0].id;
  REQUIRE(node->receive(cluster.now, from, wire::encode_member(gossip)));
  node->take_outputs();
  const auto sent = [&](std::uint64_t hash) {
    REQUIRE(node->receive(cluster.now, from, wire::encode_member(wire::SyncDigest{1, hash})));
    std::size_t bytes = 0;
    for (const auto& output : node->take_outputs()) {
      if (const auto* send = std::get_if<SendMember>(&output)) bytes += send->message.size();
    }
    return bytes;
  };
  const auto ration = static_cast<std::size_t>(Syncer::kServedBytes);
  std::size_t bytes = 0;
  for (int i = 0; i < 1'000; ++i) bytes += sent(7);
  CHECK(bytes > ration / 2);
  CHECK(bytes < ration);
  CHECK(sent(7) == 0);
  CHECK(sent(node->view_hash()) > 0);
  cluster.now += 1s;
  CHECK(sent(7) > 20'000);
}

TEST_CASE("who hears nothing half of the time is not declared dead each time") {
  Cluster cluster(16);
  form(cluster, 10);
  cluster.run(1s);
  // Of ten, a suspicion lasts 4 s, then 8 s.
  const auto start = cluster.now;
  cluster.cut = [&](std::size_t, std::size_t to) {
    return to == 4 && (cluster.now - start) / Nanos{10s} % 2 == 0;
  };
  cluster.run(200s);
  const auto id = cluster[4].id;
  CHECK(cluster.count(0, [&](const auto& o) { return changed_to(o, id, MemberState::kDead); }) <=
        2);
  // Undamped it is one for each of the ten times.
  cluster.cut = [](auto, auto) { return false; };
  CHECK(cluster.run_until(60s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a false suspicion is refuted by its subject and ends") {
  Cluster cluster(16);
  form(cluster, 6);
  wire::Update lie;
  lie.kind = GENERATE(wire::UpdateKind::kSuspect, wire::UpdateKind::kDead);
  lie.id = cluster[5].id;
  lie.numbers = cluster[5]->numbers();
  lie.by = cluster[1].id;
  REQUIRE(
      cluster[0]->receive(cluster.now, cluster[1].id, wire::encode_member(wire::Gossip{{lie}})));
  CHECK_FALSE(cluster.agreed());
  CHECK(cluster.run_until(3s, [&] { return cluster.agreed(); }));
  CHECK(cluster[5]->numbers() == Numbers{1, 1});
}

TEST_CASE("a partition heals by the reconnector alone and both halves agree again") {
  Cluster cluster(17);
  form(cluster, 7);
  const auto side = [](std::size_t place) { return place < 3; };
  cluster.cut = [&](std::size_t from, std::size_t to) { return side(from) != side(to); };
  REQUIRE(cluster.run_until(60s, [&] {
    return cluster[4].membership->live() == 4 && cluster[1].membership->live() == 3;
  }));
  cluster.run(60s);
  cluster.cut = [](auto, auto) { return false; };
  CHECK(cluster.run_until(30s, [&] { return cluster.agreed(); }));
}

TEST_CASE("the healing of a partition makes nobody suspect on its own side") {
  Cluster cluster(18);
  form(cluster, 8);
  const auto side = [](std::size_t place) { return place < 4; };
  cluster.cut = [&](std::size_t from, std::size_t to) { return side(from) != side(to); };
  cluster.run(60s);
  for (std::size_t place = 0; place < 8; ++place) cluster[place].events.clear();
  cluster.cut = [](auto, auto) { return false; };
  REQUIRE(cluster.run_until(30s, [&] { return cluster.agreed(); }));
  for (std::size_t place = 0; place < 8; ++place) {
    INFO(place);
    CHECK(cluster.count(place, [](const MemberOutput& output) {
      const auto* changed = std::get_if<MemberChanged>(&output);
      return changed != nullptr && changed->after != MemberState::kAlive;
    }) == 0);
  }
}

TEST_CASE("a death told by a sync is put to its subject before anybody believes it") {
  Cluster cluster(32);
  form(cluster, 3);
  for (std::size_t place = 0; place < 3; ++place) cluster[place].events.clear();
  wire::SyncState state;
  state.updates.emplace_back();
  state.updates[0].kind = wire::UpdateKind::kDead;
  state.updates[0].id = cluster[2].id;
  state.updates[0].numbers = {1, 0};
  REQUIRE(cluster[0]->receive(cluster.now, cluster[1].id, wire::encode_member(state)));
  CHECK(cluster[0]->find(cluster[2].id)->state == MemberState::kAlive);
  CHECK(cluster.run_until(1s, [&] {
    return cluster.agreed() && cluster[2]->numbers() == Numbers{1, 1};
  }));
  for (std::size_t place = 0; place < 3; ++place) CHECK(cluster[place].events.empty());
}

TEST_CASE("two members that cannot reach each other do not even suspect, thanks to the others") {
  Cluster cluster(19);
  form(cluster, 5);
  cluster.cut = [](std::size_t from, std::size_t to) { return from + to == 1; };  // 0 and 1
  cluster.run(120s);
  for (std::size_t place = 0; place < 5; ++place) {
    INFO(place);
    CHECK(cluster.count(place, [](const MemberOutput& output) {
      const auto* changed = std::get_if<MemberChanged>(&output);
      return changed != nullptr && changed->after != MemberState::kAlive;
    }) == 0);
  }
}

TEST_CASE("a node that gets no answer at all doubts itself and probes more slowly") {
  Cluster cluster(29);
  form(cluster, 10);
  cluster.run(5s);
  cluster.cut = [](std::size_t, std::size_t to) { return to == 0; };
  std::size_t pings = 0;
  auto& node = cluster[0];
  for (auto now = cluster.now; now < cluster.now + 20s; now += 10ms) {
    if (node->next_timer() <= now) node->tick(now);
    for (const auto& output : node->take_outputs()) {
      const auto* send = std::get_if<SendMember>(&output);
      if (send == nullptr) continue;
      const auto message = wire::decode_member(send->message);
      pings += std::holds_alternative<wire::Ping>(*message) ? 1 : 0;
    }
  }
  CHECK(pings >= 3);
  CHECK(pings <= 8);  // one a second would be 20
}

TEST_CASE("once two halves touch, all of them agree within a second") {
  Cluster cluster(30);
  form(cluster, 12);
  const auto side = [](std::size_t place) { return place < 6; };
  cluster.cut = [&](std::size_t from, std::size_t to) { return side(from) != side(to); };
  cluster.run(60s);
  cluster.cut = [](auto, auto) { return false; };
  const auto touched = [&] {
    for (std::size_t place = 0; place < 12; ++place) {
      if (cluster[place]->live() > 6) return true;
    }
    return false;
  };
  REQUIRE(cluster.run_until(30s, touched));
  CHECK(cluster.run_until(1s, [&] { return cluster.agreed(); }));
}

TEST_CASE("loss of a tenth of all messages kills nobody") {
  Cluster cluster(20);
  form(cluster, 16);
  cluster.loss = 0.1;
  cluster.run(300s);
  CHECK(cluster.deaths_seen() == 0);
  cluster.loss = 0;
  CHECK(cluster.run_until(30s, [&] { return cluster.agreed(); }));
}

TEST_CASE("a member that is stalled three quarters of the time gets nobody else declared dead") {
  Cluster cluster(28);
  form(cluster, 10);
  const auto begin = cluster.now;
  cluster.stalled_until = [&](std::size_t place) {
    const auto cycle = begin + (cluster.now - begin) / 20s * Nanos{20s};
    return place == 3 ? cycle + 15s : MonoTime{};
  };
  cluster.run(120s);
  const auto stalled = cluster[3].id;
  for (std::size_t place = 0; place < 10; ++place) {
    INFO(place);
    CHECK(cluster.count(place, [&](const MemberOutput& output) {
      const auto* changed = std::get_if<MemberChanged>(&output);
      return changed != nullptr && changed->id != stalled && changed->after == MemberState::kDead;
    }) == 0);
  }
  cluster.stalled_until = [](auto) { return MonoTime{}; };
  CHECK(cluster.run_until(30s, [&] { return cluster.agreed(); }));
}

TEST_CASE("an idle cluster says nothing but probes and a digest now and then") {
  Cluster cluster(21);
  form(cluster, 5);
  cluster.run(30s);
  cluster.sent = 0;
  cluster.sent_by_kind.clear();
  cluster.run(100s);
  // A probe a second and its ack, and each 5 to 10 s a digest and its answer.
  CHECK(cluster.sent <= 5 * (2 * 101 + 2 * 20));
  CHECK(cluster.sent_by_kind[wire::number(wire::Kind::kGossip)] == 0);
  CHECK(cluster.sent_by_kind[wire::number(wire::Kind::kSyncNeed)] == 0);
  CHECK(cluster.sent_by_kind[wire::number(wire::Kind::kPing)] >= 5 * 99);
}

TEST_CASE("who is dead without a store is forgotten after a minute, with one it is kept a day") {
  Cluster cluster(22);
  form(cluster, 3);
  auto options = joins({0});
  options.has_store = false;
  cluster.start(3, options);
  REQUIRE(cluster.run_until(5s, [&] { return cluster.agreed(); }));
  cluster.crash(2);
  cluster.crash(3);
  cluster.run(60s);
  REQUIRE(cluster.all_see(2, MemberState::kDead));
  cluster.run(60s);
  CHECK(cluster[0]->find(cluster[3].id) == nullptr);
  CHECK(cluster[1]->find(cluster[3].id) == nullptr);
  CHECK(cluster.all_see(2, MemberState::kDead));
}

TEST_CASE("a higher incarnation of oneself is told to the owner once") {
  Cluster cluster(23);
  form(cluster, 2);
  wire::Update told;
  told.kind = wire::UpdateKind::kSuspect;
  told.id = cluster[0].id;
  told.numbers = {41, 0};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(
        cluster[0]->receive(cluster.now, cluster[1].id, wire::encode_member(wire::Gossip{{told}})));
  }
  std::vector<Incarnation> seen;
  for (const auto& output : cluster[0]->take_outputs()) {
    if (const auto* s = std::get_if<IncarnationSeen>(&output)) seen.push_back(s->seen);
  }
  CHECK(seen == std::vector<Incarnation>{41});
  CHECK(cluster[0]->numbers() == Numbers{1, 0});
}

TEST_CASE("a stall of the own loop accuses nobody") {
  Cluster cluster(25);
  form(cluster, 4);
  cluster.run(5s);
  auto& stalled = cluster[1];
  // All answers wait unread for 20 s; then the loop reads nothing, is told of the stall, and ticks.
  const auto resumed = cluster.now + 20s;
  stalled->held_up(resumed, 20s);
  stalled->tick(resumed);
  for (const auto& member : stalled->members()) CHECK(member.state == MemberState::kAlive);
}

TEST_CASE("hearing from a member answers its probe and puts off its death") {
  Cluster cluster(26);
  form(cluster, 2);
  auto& node = cluster[0];
  const auto id = cluster[1].id;
  cluster.crash(1);
  MonoTime now = cluster.now;
  for (int i = 0; i < 2000; ++i) {
    now += 50ms;
    node->peer_heard(now, id, 1);
    if (node->next_timer() <= now) node->tick(now);
    REQUIRE(node->find(id)->state == MemberState::kAlive);
  }
  // Mail of an earlier life is no sign of life.
  bool dead = false;
  for (int i = 0; i < 400 && !dead; ++i) {
    now += 50ms;
    node->peer_heard(now, id, 0);
    if (node->next_timer() <= now) node->tick(now);
    dead = node->find(id)->state == MemberState::kDead;
  }
  CHECK(dead);
}

TEST_CASE("the same seed gives the same run") {
  const auto run = [](std::uint64_t seed) {
    Cluster cluster(seed);
    cluster.loss = 0.05;
    cluster.start(0);
    for (std::size_t place = 1; place < 8; ++place) cluster.start(place, joins({0}));
    cluster.run(10s);
    cluster.crash(3);
    cluster.run(20s);
    return cluster.trace;
  };
  CHECK(run(5) == run(5));
  CHECK(run(5) != run(6));
}
