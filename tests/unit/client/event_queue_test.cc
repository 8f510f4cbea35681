#include "nodes/client/event_queue.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;

TEST_CASE("a subscription that nobody empties keeps the oldest events up to its limit") {
  client::EventQueue queue;
  constexpr std::size_t kHalf = limits::kClientEventBytes / 2;
  for (std::uint64_t seq = 1; seq <= 3; ++seq) {
    ClientEvent event;
    event.seq = seq;
    queue.push(std::move(event), kHalf);
  }
  CHECK(queue.dropped() == 1);
  CHECK(queue.next(Millis{0}).value()->seq == 1);
  CHECK(queue.next(Millis{0}).value()->seq == 2);
  CHECK_FALSE(queue.next(Millis{0}).value().has_value());
}

TEST_CASE("an event larger than the limit still fits where nothing waits") {
  client::EventQueue queue;
  queue.push({}, limits::kClientEventBytes + 1);
  CHECK(queue.dropped() == 0);
  CHECK(queue.next(Millis{0}).value().has_value());
}

TEST_CASE("a closed subscription hands out what it has, then says so") {
  client::EventQueue queue;
  queue.push({}, 1);
  queue.close();
  CHECK(queue.next(Millis{0}).value().has_value());
  CHECK(queue.next(Millis{0}).error().code == Code::kClosed);
}
