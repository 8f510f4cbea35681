#include "core/flow/window_receiver.h"

#include <catch2/catch.hpp>
#include <map>

#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/flow/window_sender.h"

using namespace headrace;

namespace {

const NodeId kNode = NodeId::from_halves(1, 1);
const NodeId kOther = NodeId::from_halves(1, 2);
const SenderKey kKey{kNode, "q"};
const SenderKey kOtherKey{kOther, "q"};

// A receiver, and what came out of it.
struct Rig {
  WindowReceiver receiver;
  std::vector<WindowReceiver::Outgoing> states;
  std::vector<WindowReceiver::Dropped> dropped;
  std::map<SenderKey, WindowSender*> senders;  // that can be reached

  explicit Rig(Marks marks) : receiver(7, marks) {}

  void collect() {
    states.clear();
    dropped.clear();
    receiver.collect(states, dropped);
  }
  const wire::WindowState* to(const SenderKey& key) const {
    for (const auto& out : states)
      if (out.to == key) return &out.state;
    return nullptr;
  }
  // Carries mail both ways, but for items and marks, until nothing more is said.
  void settle() {
    for (int i = 0; i < 8; ++i) {
      for (const auto& [key, sender] : senders)
        if (const auto out = sender->collect(); out.announce)
          receiver.on_announce(key, 3, *out.announce);
      collect();
      for (const auto& [key, sender] : senders) {
        std::vector<std::uint64_t> back;
        if (const auto* state = to(key)) sender->on_state(*state, back);
      }
    }
  }
};

// A rig with a sender that has all the credit.
struct Pair : Rig {
  WindowSender sender{3};

  explicit Pair(Marks marks) : Rig(marks) {
    senders[kKey] = &sender;
    sender.set_want(1);
    settle();
    sender.set_want(0);
  }
  Arrival send() { return receiver.on_item(kKey, 3, sender.take_item(0)); }
  wire::ItemId item(std::uint64_t n) const { return {sender.session(), n}; }
};

}  // namespace

TEST_CASE("the first mail of a sender opens a session and brings it all the room") {
  Rig rig({8, 4});
  WindowSender sender(3);
  sender.set_want(5);
  rig.senders[kKey] = &sender;
  rig.settle();
  CHECK(sender.session() == wire::Session{7, 1});
  CHECK(sender.credit() == 8);
  CHECK(rig.receiver.reserve() == 8);
}

TEST_CASE("items are taken in up to the high mark, and places are free when jobs end") {
  Pair pair({2, 1});
  CHECK(pair.send() == Arrival::kTaken);
  CHECK(pair.send() == Arrival::kTaken);
  CHECK(pair.sender.credit() == 0);
  CHECK(pair.receiver.occupancy() == 2);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  CHECK(pair.receiver.on_ended(kKey, pair.item(1)));
  CHECK(pair.receiver.occupancy() == 1);
  CHECK(pair.receiver.lists(kKey, pair.item(1)));
  pair.sender.set_want(1);
  pair.settle();
  pair.receiver.on_period();
  pair.settle();
  CHECK(pair.sender.credit() == 1);
  pair.receiver.on_acknowledged(kKey, 3, pair.item(1));
  CHECK_FALSE(pair.receiver.lists(kKey, pair.item(1)));
  CHECK(pair.receiver.lists(kKey, pair.item(2)));
}

TEST_CASE("repeated and late items are dropped, those of an old session refused") {
  Pair pair({4, 2});
  const auto first = pair.sender.take_item(0);
  const auto second = pair.sender.take_item(0);
  CHECK(pair.receiver.on_item(kKey, 3, second) == Arrival::kTaken);
  CHECK(pair.receiver.on_item(kKey, 3, second) == Arrival::kDropped);
  CHECK(pair.receiver.on_item(kKey, 3, first) == Arrival::kDropped);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);  // at once after a loss
  CHECK(pair.to(kKey)->full);
  CHECK(pair.to(kKey)->held == std::vector<wire::HeldRun>{{1, 2, 1}});
  pair.receiver.on_dead(kNode);
  const auto third = pair.sender.take_item(0);
  CHECK(pair.receiver.on_item(kKey, 3, third) == Arrival::kRefused);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->session == wire::Session{7, 2});
  CHECK(pair.to(kKey)->full);
  CHECK(pair.to(kKey)->held.empty());
}

TEST_CASE("over a lowered high mark items are refused, and the excess is asked back") {
  Pair pair({4, 2});
  CHECK(pair.send() == Arrival::kTaken);
  pair.receiver.set_marks({1, 0});
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->ask == 3);
  CHECK(pair.send() == Arrival::kRefused);
  pair.settle();
  CHECK(pair.sender.credit() == 0);
  CHECK(pair.receiver.occupancy() + pair.receiver.reserve() <= 1);
}

TEST_CASE("a mark shows that the tail was lost") {
  Pair pair({4, 2});
  pair.sender.take_item(0);
  pair.sender.take_item(0);
  pair.sender.on_period();
  pair.sender.on_period();
  const auto mark = pair.sender.collect().mark;
  REQUIRE(mark);
  pair.receiver.on_mark(kKey, 3, *mark);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->passed == 2);
  CHECK(pair.to(kKey)->full);
  CHECK(pair.receiver.reserve() == 4);  // both places are given anew
}

TEST_CASE("a query is always answered in full") {
  Pair pair({4, 2});
  wire::Announce query;
  query.number = 1;  // an old one at that
  query.session = pair.sender.session();
  query.query = true;
  pair.receiver.on_announce(kKey, 3, query);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->full);
}

TEST_CASE("the highest announcement wins") {
  Pair pair({4, 2});
  wire::Announce late;
  late.number = 100;
  late.session = pair.sender.session();
  late.limit = 4;
  late.want = 9;
  pair.receiver.on_announce(kKey, 3, late);
  CHECK(pair.receiver.view(kKey).want == 9);
  late.number = 99;
  late.want = 0;
  pair.receiver.on_announce(kKey, 3, late);
  CHECK(pair.receiver.view(kKey).want == 9);
}

TEST_CASE("a new life of the sender voids what has not started, and orphans what runs") {
  Pair pair({4, 2});
  for (int i = 0; i < 3; ++i) REQUIRE(pair.send() == Arrival::kTaken);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  REQUIRE(pair.receiver.on_started(kKey, pair.item(2)));
  REQUIRE(pair.receiver.on_ended(kKey, pair.item(2)));
  pair.receiver.on_incarnation(kNode, 4);
  CHECK_FALSE(pair.receiver.on_started(kKey, pair.item(3)));
  pair.collect();
  CHECK(pair.dropped == std::vector<WindowReceiver::Dropped>{{kKey, pair.item(3)}});
  CHECK(pair.receiver.occupancy() == 1);
  CHECK_FALSE(pair.receiver.lists(kKey, pair.item(1)));
  CHECK_FALSE(pair.receiver.lists(kKey, pair.item(2)));
  CHECK_FALSE(pair.receiver.on_ended(kKey, pair.item(1)));  // nobody waits for it
  CHECK(pair.receiver.idle());
  CHECK(pair.send() == Arrival::kDropped);  // mail of the old life
}

TEST_CASE("a sender believed dead loses what has not started, and keeps what runs if it was not") {
  Pair pair({4, 2});
  for (int i = 0; i < 2; ++i) REQUIRE(pair.send() == Arrival::kTaken);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  pair.receiver.on_dead(kNode);
  pair.collect();
  CHECK(pair.dropped == std::vector<WindowReceiver::Dropped>{{kKey, pair.item(2)}});
  CHECK(pair.receiver.reserve() == 0);
  pair.sender.set_want(1);
  pair.receiver.on_announce(
      kKey, 3, *[&] {
        pair.sender.on_alive();
        return pair.sender.collect().announce;
      }());
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->session == wire::Session{7, 2});
  CHECK(pair.to(kKey)->held == std::vector<wire::HeldRun>{{1, 1, 1}});
  CHECK(pair.receiver.on_ended(kKey, pair.item(1)));
}

TEST_CASE("what is handed back without having run goes off the list") {
  Pair pair({4, 2});
  for (int i = 0; i < 4; ++i) REQUIRE(pair.send() == Arrival::kTaken);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  REQUIRE(pair.receiver.on_started(kKey, pair.item(4)));
  REQUIRE(pair.receiver.on_ended(kKey, pair.item(1)));
  CHECK(pair.receiver.hand_back(kKey, pair.item(2)));
  CHECK_FALSE(pair.receiver.hand_back(kKey, pair.item(2)));
  CHECK_FALSE(pair.receiver.hand_back(kKey, pair.item(1)));  // it has run
  CHECK(pair.receiver.hand_back(kKey, pair.item(4)));        // its run never began after all
  CHECK(pair.receiver.occupancy() == 1);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->full);
  CHECK(pair.to(kKey)->held == std::vector<wire::HeldRun>{{1, 1, 1}, {1, 3, 1}});
}

TEST_CASE("a consumer that stops takes in nothing and asks all credit back") {
  Pair pair({4, 2});
  REQUIRE(pair.send() == Arrival::kTaken);
  pair.receiver.stop();
  CHECK(pair.send() == Arrival::kRefused);
  pair.settle();
  CHECK(pair.sender.credit() == 0);
  CHECK(pair.receiver.reserve() == 0);
  pair.sender.set_want(5);
  for (int i = 0; i < 5; ++i) {
    pair.receiver.on_period();
    pair.settle();
  }
  CHECK(pair.sender.credit() == 0);
  CHECK(pair.receiver.on_ended(kKey, pair.item(1)));
  pair.receiver.on_acknowledged(kKey, 3, pair.item(1));
  pair.receiver.on_period();
  CHECK(pair.receiver.idle());
  CHECK_FALSE(pair.receiver.period_needed());
}

TEST_CASE("a consumer that stops is silent to a sender that has nothing of it, answered or not") {
  Rig rig({4, 2});
  rig.receiver.stop();
  wire::Announce announce;
  announce.number = 1;
  announce.want = 3;
  rig.receiver.on_announce(kKey, 3, announce);
  rig.collect();
  CHECK(rig.to(kKey) != nullptr);
  rig.receiver.on_period();
  CHECK_FALSE(rig.receiver.period_needed());
}

TEST_CASE("a sender short of credit gets the idle credit of another") {
  Pair pair({4, 2});
  WindowSender busy(3);
  pair.senders[kOtherKey] = &busy;
  busy.set_want(4);
  pair.settle();
  CHECK(busy.credit() == 4);
  CHECK(pair.sender.credit() == 0);
}

TEST_CASE("credit of a sender that says nothing is reclaimed after more than two periods") {
  Pair pair({4, 2});
  WindowSender busy(3);
  pair.senders = {{kOtherKey, &busy}};
  busy.set_want(4);
  pair.settle();
  for (unsigned i = 0; i < kPatience + 1; ++i) {
    CHECK(busy.credit() == 0);
    pair.receiver.on_period();
    pair.settle();
  }
  CHECK(busy.credit() == 4);
  CHECK(pair.receiver.view(kKey).session == wire::Session{7, 3});
}

TEST_CASE("a lane that carries nothing for ten periods loses its credit until a mark passes") {
  Pair pair({4, 2});
  pair.sender.take_item(0);  // swallowed
  pair.sender.set_want(3);
  WindowSender other(3);
  pair.senders[kOtherKey] = &other;
  other.set_want(4);
  const auto before = pair.receiver.view(kKey).session;
  const auto period = [&] {
    pair.receiver.on_period();
    pair.sender.on_period();
    pair.settle();
  };
  period();  // only now does the receiver know what is under way
  for (unsigned i = 0; i <= kLanePatience; ++i) {
    CHECK(pair.receiver.view(kKey).session == before);
    period();
  }
  CHECK(pair.receiver.view(kKey).session > before);
  period();
  CHECK(pair.sender.credit() == 0);
  CHECK(other.credit() == 4);

  pair.receiver.on_period();
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  REQUIRE(pair.to(kKey)->prove);
  std::vector<std::uint64_t> back;
  pair.sender.on_state(*pair.to(kKey), back);
  const auto mark = pair.sender.collect().mark;
  REQUIRE(mark);
  pair.receiver.on_mark(kKey, 3, *mark);
  pair.settle();
  CHECK(pair.sender.credit() == 2);
  CHECK(other.credit() == 2);
}

TEST_CASE("states are repeated each period while anything is open, and not at rest") {
  Pair pair({4, 2});
  pair.receiver.on_period();
  pair.settle();
  pair.receiver.on_period();
  pair.collect();
  CHECK(pair.states.empty());
  CHECK_FALSE(pair.receiver.period_needed());
  REQUIRE(pair.send() == Arrival::kTaken);
  CHECK(pair.receiver.period_needed());
  for (int i = 0; i < 3; ++i) {
    pair.receiver.on_period();
    pair.collect();
    REQUIRE(pair.to(kKey) != nullptr);
    CHECK(pair.to(kKey)->echo);
    CHECK(pair.to(kKey)->held == std::vector<wire::HeldRun>{{1, 1, 1}});
  }
}

TEST_CASE("an owner that acknowledges nothing is granted no more than twice the high mark") {
  Pair pair({2, 1});
  std::uint64_t n = 0;
  for (int i = 0; i < 20; ++i) {
    pair.sender.set_want(2);
    pair.receiver.on_period();
    pair.settle();
    while (pair.sender.credit() > 0) {
      REQUIRE(pair.send() == Arrival::kTaken);
      REQUIRE(pair.receiver.on_started(kKey, pair.item(++n)));
      REQUIRE(pair.receiver.on_ended(kKey, pair.item(n)));
    }
  }
  CHECK(n == 4);
  CHECK(pair.receiver.view(kKey).finished == 4);
  for (std::uint64_t i = 1; i <= n; ++i) pair.receiver.on_acknowledged(kKey, 3, pair.item(i));
  pair.receiver.on_period();
  pair.settle();
  CHECK(pair.sender.credit() == 2);
}

TEST_CASE("numbers that no honest sender announces change nothing") {
  Pair pair({4, 2});
  wire::ItemHead head;
  head.announce = {100, pair.sender.session(), 9, 9, 0, 0, false};  // beyond the limit
  CHECK(pair.receiver.on_item(kKey, 3, head) == Arrival::kDropped);
  head.announce = {100, pair.sender.session(), 4, 4, 4, 0, false};
  pair.receiver.on_announce(kKey, 3, head.announce);
  head.announce = {101, pair.sender.session(), 4, 4, 0, 0, false};  // an item and burned as well
  CHECK(pair.receiver.on_item(kKey, 3, head) == Arrival::kDropped);
  CHECK(pair.receiver.occupancy() + pair.receiver.reserve() <= 4);
}

TEST_CASE("a forgotten sender leaves nothing behind once its last job has ended") {
  Pair pair({4, 2});
  REQUIRE(pair.send() == Arrival::kTaken);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  pair.receiver.forget(kNode);
  CHECK(pair.receiver.occupancy() == 1);
  CHECK(pair.receiver.view(kKey).life == 3);
  CHECK_FALSE(pair.receiver.on_ended(kKey, pair.item(1)));
  CHECK(pair.receiver.idle());
  CHECK(pair.receiver.view(kKey).life == 0);
}

TEST_CASE("senders beyond the limit are not heard") {
  Rig rig({8, 4});
  const wire::Announce hello{1, {}, 0, 0, 0, 1, false};
  for (std::size_t i = 0; i < limits::kWindowSenders; ++i)
    rig.receiver.on_announce({NodeId::from_halves(2, i), "q"}, 3, hello);
  rig.receiver.on_announce(kKey, 3, hello);
  CHECK_FALSE(rig.receiver.view(kKey).session.exists());
  CHECK(rig.receiver.view({NodeId::from_halves(2, 0), "q"}).session.exists());
}

TEST_CASE("what its sender took back leaves the list, and its place when its run ends") {
  Pair pair({4, 2});
  for (int i = 0; i < 3; ++i) REQUIRE(pair.send() == Arrival::kTaken);
  REQUIRE(pair.receiver.on_started(kKey, pair.item(1)));
  REQUIRE(pair.receiver.on_started(kKey, pair.item(2)));
  REQUIRE(pair.receiver.on_ended(kKey, pair.item(2)));
  CHECK(pair.receiver.on_over(kKey, pair.item(1)));        // runs
  CHECK_FALSE(pair.receiver.on_over(kKey, pair.item(2)));  // has ended
  CHECK(pair.receiver.on_over(kKey, pair.item(3)));        // waits
  CHECK(pair.receiver.occupancy() == 1);
  pair.collect();
  REQUIRE(pair.to(kKey) != nullptr);
  CHECK(pair.to(kKey)->held == std::vector<wire::HeldRun>{{1, 2, 1}});
  CHECK_FALSE(pair.receiver.on_ended(kKey, pair.item(1)));  // nobody waits for it
  CHECK(pair.receiver.occupancy() == 0);
}
