#include "nodes/runtime/inbox.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "nodes/runtime/clock.h"
#include "nodes/runtime/places.h"
#include "tests/unit/nodes/support.h"

using namespace headrace;
using headrace::runtime::Inbox;
using headrace::runtime::Places;

TEST_CASE("a loop that is awake is not woken, one that sleeps is woken once") {
  int wakes = 0;
  Inbox<int> inbox([&] { ++wakes; });
  CHECK(inbox.push(1));
  CHECK(wakes == 0);
  CHECK_FALSE(inbox.sleep());
  std::vector<int> items;
  inbox.take(items);
  CHECK(items == std::vector<int>{1});
  CHECK(inbox.sleep());
  inbox.push(2);
  inbox.push(3);
  CHECK(wakes == 1);
  inbox.take(items);
  CHECK(items == std::vector<int>{2, 3});
}

TEST_CASE("a closed inbox refuses what comes and gives what came") {
  Inbox<int> inbox([] {});
  inbox.push(1);
  inbox.close();
  CHECK_FALSE(inbox.push(2));
  std::vector<int> items;
  inbox.take(items);
  CHECK(items == std::vector<int>{1});
}

TEST_CASE("items of one thread keep their order among those of others") {
  constexpr int kEach = 20'000;
  std::atomic<bool> woken{false};
  Inbox<std::pair<int, int>> inbox([&] { woken = true; });
  std::vector<std::thread> producers;
  for (int who = 0; who < 3; ++who) {
    producers.emplace_back([&inbox, who] {
      for (int i = 0; i < kEach; ++i) inbox.push({who, i});
    });
  }
  std::vector<int> next(3, 0);
  std::vector<std::pair<int, int>> items;
  bool in_order = true;
  REQUIRE(test::eventually([&] {
    inbox.take(items);
    for (const auto& [who, i] : items)
      in_order = in_order && next[static_cast<unsigned>(who)]++ == i;
    return next == std::vector<int>(3, kEach);
  }));
  for (auto& producer : producers) producer.join();
  CHECK(in_order);
}

TEST_CASE("there are as many places as were made, by count and by bytes") {
  Places places(2, 100);
  const auto soon = [] { return runtime::mono_now() + Millis{1}; };
  REQUIRE(places.take(60, soon()));
  CHECK(places.take(41, soon()).error().code == Code::kTimeout);
  REQUIRE(places.take(40, soon()));
  CHECK(places.take(0, soon()).error().code == Code::kTimeout);
  places.give_back(1, 60);
  CHECK(places.take(60, soon()));
}

TEST_CASE("a call that is larger than all places together has them to itself") {
  Places places(2, 100);
  REQUIRE(places.take(1'000, kNever));
  CHECK(places.take(1, runtime::mono_now()).error().code == Code::kTimeout);
  places.give_back(1, 1'000);
  CHECK(places.take(1, runtime::mono_now()));
}

TEST_CASE("who waits for a place gets one when it is given back, and kClosed at the end") {
  Places places(1, 100);
  REQUIRE(places.take(1, kNever));
  test::Slot<int> got;
  std::thread waiter([&] {
    const bool first = places.take(1, kNever).has_value();
    got.change([&](int& count) { count += first ? 1 : 100; });
    const auto second = places.take(1, kNever);
    got.change([&](int& count) { count += second.error().code == Code::kClosed ? 10 : 1000; });
  });
  places.give_back(1, 1);
  REQUIRE(got.wait([](int count) { return count == 1; }));
  places.close();
  CHECK(got.wait([](int count) { return count == 11; }));
  waiter.join();
}
