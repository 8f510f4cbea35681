#include <catch2/catch.hpp>

#include "core/member/broadcast_queue.h"
#include "core/member/local_health.h"
#include "core/member/member_table.h"
#include "core/member/profile.h"
#include "core/member/suspicion.h"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

const MonoTime kStart{1h};

NodeId id_of(std::uint64_t n) { return NodeId::from_halves(n, n); }

wire::Update suspect(std::uint64_t whom, std::uint64_t refutation = 0) {
  wire::Update update;
  update.kind = wire::UpdateKind::kSuspect;
  update.id = id_of(whom);
  update.numbers = {1, refutation};
  update.by = id_of(99);
  return update;
}

}  // namespace

TEST_CASE("an update is told four times per decimal digit of the cluster") {
  struct {
    std::size_t members;
    unsigned limit;
  } const rows[] = {{1, 4}, {2, 4}, {9, 4}, {10, 8}, {99, 8}, {100, 12}, {999, 12}, {1000, 16}};
  for (const auto& row : rows) {
    INFO(row.members);
    CHECK(retransmit_limit(4, row.members) == row.limit);
  }
  CHECK(retransmit_limit(2, 50) == 4);
}

TEST_CASE("the least suspicion grows with the logarithm of the cluster") {
  const auto lan = Profile::lan();
  CHECK(least_suspicion(lan, 1) == 4s);
  CHECK(least_suspicion(lan, 10) == 4s);
  CHECK(least_suspicion(lan, 100) == 8s);
  CHECK(least_suspicion(lan, 1000) == 12s);
  CHECK(least_suspicion(Profile::fast(), 100) == 3s);
  CHECK(least_suspicion(Profile::wan(), 10) == 30s);
}

TEST_CASE("confirmations are expected only from a cluster that can give them") {
  const auto lan = Profile::lan();
  CHECK(expected_confirmations(lan, 3) == 0);
  CHECK(expected_confirmations(lan, 4) == 2);
  CHECK(expected_confirmations(Profile::fast(), 3) == 1);
}

TEST_CASE("a suspicion shrinks from longest to least as confirmations come") {
  // 30 - 28 * log(c + 1) / log(4), as in the tables of the paper's formula.
  CHECK(suspicion_timeout(2s, 30s, 0, 3) == 30s);
  CHECK(suspicion_timeout(2s, 30s, 1, 3) == 16s);
  CHECK(suspicion_timeout(2s, 30s, 2, 3) == 7811ms);
  CHECK(suspicion_timeout(2s, 30s, 3, 3) == 2s);
  CHECK(suspicion_timeout(2s, 30s, 9, 3) == 2s);
  CHECK(suspicion_timeout(2s, 30s, 0, 0) == 2s);
}

TEST_CASE("a suspicion ends sooner by independent confirmations only") {
  const auto lan = Profile::lan();
  Suspicions suspicions;
  suspicions.begin(kStart, id_of(1), id_of(2), lan, 10);
  CHECK(suspicions.accuser(id_of(1)) == id_of(2));
  CHECK(suspicions.expired(kStart + 23999ms).empty());
  CHECK_FALSE(suspicions.confirm(id_of(1), id_of(2)));
  CHECK(suspicions.confirm(id_of(1), id_of(3)));
  CHECK_FALSE(suspicions.confirm(id_of(1), id_of(3)));
  CHECK(suspicions.confirm(id_of(1), id_of(4)));
  CHECK_FALSE(suspicions.confirm(id_of(1), id_of(5)));  // enough
  CHECK(suspicions.expired(kStart + 3999ms).empty());
  CHECK(suspicions.expired(kStart + 4s) == std::vector{id_of(1)});
  CHECK_FALSE(suspicions.accuser(id_of(1)));
  CHECK(suspicions.next() == kNever);
}

TEST_CASE("a suspicion moves by the time that the loop stood still") {
  Suspicions suspicions;
  suspicions.begin(kStart, id_of(1), id_of(2), Profile::lan(), 3);
  suspicions.shift(10s);
  CHECK(suspicions.next() == kStart + 14s);
  CHECK(suspicions.expired(kStart + 13999ms).empty());
  suspicions.shorten(id_of(1), kStart + 12s);
  CHECK(suspicions.expired(kStart + 12s).size() == 1);
}

TEST_CASE("local health stays within its bounds and stretches time") {
  LocalHealth health(7);
  CHECK(health.stretch(1s) == 1s);
  health.better();
  CHECK(health.score() == 0);
  health.worse(3);
  CHECK(health.stretch(1s) == 4s);
  health.worse(100);
  CHECK(health.stretch(1s) == 8s);
}

TEST_CASE("a belief is overridden by higher numbers, then by the graver state") {
  using enum MemberState;
  CHECK(beats({1, 1}, kAlive, {1, 0}, kDead));
  CHECK(beats({2, 0}, kAlive, {1, 9}, kLeft));
  CHECK(beats({1, 0}, kSuspect, {1, 0}, kAlive));
  CHECK(beats({1, 0}, kDead, {1, 0}, kSuspect));
  CHECK(beats({1, 0}, kLeft, {1, 0}, kDead));
  CHECK_FALSE(beats({1, 0}, kAlive, {1, 0}, kAlive));
  CHECK_FALSE(beats({1, 0}, kDead, {1, 1}, kAlive));
}

TEST_CASE("who came back from the dead is suspected for twice as long, then longer") {
  const Profile lan = Profile::lan();
  Suspicions suspicions;
  const auto least = least_suspicion(lan, 3);  // nobody can confirm: it is the time itself
  for (unsigned flaps = 0; flaps < 4; ++flaps) {
    suspicions.begin(kStart, id_of(1), id_of(2), lan, 3, flaps);
    const auto end = kStart + least * (1 << flaps);
    CHECK(suspicions.expired(end - Millis{1}).empty());
    CHECK(suspicions.expired(end).size() == 1);
  }
}

TEST_CASE("gossip keeps one sentence for each subject, the newest") {
  BroadcastQueue queue;
  queue.put(suspect(1, 0), false);
  queue.put(suspect(1, 5), false);
  CHECK(queue.size() == 1);
  std::vector<wire::Update> out;
  queue.take(1000, 2, out);
  REQUIRE(out.size() == 1);
  CHECK(out[0].numbers.refutation == 5);
}

TEST_CASE("gossip tells what a node says of itself first, then the least told, then the newest") {
  BroadcastQueue queue;
  queue.put(suspect(1), false);
  std::vector<wire::Update> out;
  queue.take(1000, 9, out);  // told once
  queue.put(suspect(2), false);
  queue.put(suspect(3), false);
  queue.put(suspect(4), true);
  out.clear();
  queue.take(1000, 9, out);
  REQUIRE(out.size() == 4);
  CHECK(out[0].id == id_of(4));
  CHECK(out[1].id == id_of(3));
  CHECK(out[2].id == id_of(2));
  CHECK(out[3].id == id_of(1));
}

TEST_CASE("gossip keeps to its budget in bytes and to its number of repeats") {
  BroadcastQueue queue;
  for (std::uint64_t i = 0; i < 10; ++i) queue.put(suspect(i), false);
  const auto one = wire::encoded_size(suspect(1));
  std::map<NodeId, int> told;
  for (int round = 0; !queue.empty(); ++round) {
    REQUIRE(round < 100);
    std::vector<wire::Update> out;
    queue.take(3 * one, 4, out);
    CHECK(out.size() <= 3);
    for (const auto& update : out) ++told[update.id];
  }
  REQUIRE(told.size() == 10);
  for (const auto& [id, times] : told) CHECK(times == 4);
}

TEST_CASE("the hash of a view tells live members apart and does not depend on their order") {
  Lives lives;
  const auto about = std::make_shared<const wire::Description>();
  const auto member = [&](std::uint64_t n, std::uint64_t refutation = 0) {
    MemberRecord m;
    m.life = lives.find_or_keep(id_of(n), 1, about);
    m.set_refutation(refutation);
    return m;
  };
  MemberTable a;
  MemberTable b;
  for (std::uint64_t n : {1, 2, 3}) a.add(member(n));
  for (std::uint64_t n : {3, 1, 2}) b.add(member(n));
  CHECK(a.hash() == b.hash());
  b.remove(id_of(1));
  CHECK(a.hash() != b.hash());
  b.add(member(1, 1));
  CHECK(a.hash() != b.hash());
  b.remove(id_of(1));
  a.set_state(*a.find(id_of(1)), MemberState::kDead, kStart);
  CHECK(a.hash() == b.hash());
  CHECK(a.live() == 2);
}
