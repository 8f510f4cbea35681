#include <catch2/catch.hpp>
#include <future>

#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

const Bytes kBlock(60'000, 'x');

// Publishes until the window of the only destination is full; returns how many went.
int fill(EventPlane& plane) {
  for (int i = 0;; ++i) {
    const auto published = plane.try_publish("a", {}, kBlock);
    REQUIRE(published);
    if (published->dropped > 0) return i;
    REQUIRE(i < 1000);
  }
}

// Waits for a publish on another thread while the world goes on.
template <typename Step>
Result<Published> wait_for(std::future<Result<Published>>& publish, Step&& step) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (publish.wait_for(Millis{1}) != std::future_status::ready) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    step();
  }
  return publish.get();
}

}  // namespace

TEST_CASE(
    "what a node has under way to another is bounded by the window, and what is dropped is "
    "counted") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  const auto sent = fill(world[0]);
  CHECK(static_cast<std::size_t>(sent) == limits::kLaneWindowBytes / (kBlock.size() + 100));
  CHECK(world[0].stats().queued_bytes <= limits::kLaneWindowBytes + 64 * 1024);
  CHECK(world[0].stats().sent_dropped == 1);
  world.settle();
  CHECK(seen.size() == static_cast<std::size_t>(sent));
  CHECK(fill(world[0]) == sent);  // the whole window has come back
}

TEST_CASE("publish waits for a destination that moves") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  const auto sent = fill(world[0]);
  auto publish =
      std::async(std::launch::async, [&] { return world[0].publish("a", {}, kBlock, kPatience); });
  const auto published = wait_for(publish, [&] { world.settle(); });
  REQUIRE(published);
  CHECK(published->dropped == 0);
  world.settle();
  CHECK(seen.size() == static_cast<std::size_t>(sent) + 1);
}

TEST_CASE("publish waits no longer than it was told") {
  World world(2);
  REQUIRE(world[1].add_registration("a", false, [](const Event&) {}));
  world.settle();
  fill(world[0]);
  const auto published = world[0].publish("a", {}, kBlock, Millis{1});
  REQUIRE(published);
  CHECK(published->destinations == 1);
  CHECK(published->dropped == 1);
}

TEST_CASE("a destination that has not moved for 50 ms is not waited for") {
  World world(3);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  REQUIRE(world[2].add_registration("b", false, into(seen)));
  world.settle();
  world.frozen = {1};
  fill(world[0]);
  world.pass(Millis{49});
  auto publish =
      std::async(std::launch::async, [&] { return world[0].publish("a", {}, kBlock, kPatience); });
  const auto published = wait_for(publish, [&] { world.pass(Millis{5}); });
  REQUIRE(published);
  CHECK(published->dropped == 1);
  const auto again = world[0].publish("a", {}, kBlock, kPatience);  // does not wait at all
  REQUIRE(again);
  CHECK(again->dropped == 1);
  const auto other = world[0].publish("b", {}, "other", kPatience);
  REQUIRE(other);
  CHECK(other->dropped == 0);

  world.frozen.clear();
  world.live(Millis{2'000});
  seen.clear();
  REQUIRE(world[0].publish("a", {}, "back", kPatience)->dropped == 0);
  world.settle();
  CHECK(seen == Seen{"back"});
}

TEST_CASE("events that wait keep their order, whoever published them") {
  World world(2);
  Seen seen;
  std::vector<std::uint64_t> numbers;
  REQUIRE(world[1].add_registration("a", false,
                                    [&](const Event& event) { numbers.push_back(event.seq); }));
  world.settle();
  fill(world[0]);
  int answers = 0;
  for (int i = 0; i < 40; ++i) {
    world[0].publish_async("a", {}, i % 2 == 0 ? BytesView(kBlock) : "small", kPatience,
                           [&](const Result<Published>& published) {
                             REQUIRE(published);
                             CHECK(published->dropped == 0);
                             ++answers;
                           });
  }
  CHECK(answers == 0);
  world.settle();
  world.settle();
  CHECK(answers == 40);
  CHECK(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_CASE("a publish that is answered later is answered at its time-out") {
  World world(2);
  REQUIRE(world[1].add_registration("a", false, [](const Event&) {}));
  world.settle();
  fill(world[0]);
  std::optional<Result<Published>> answer;
  world[0].publish_async("a", {}, kBlock, Millis{20},
                         [&](Result<Published> published) { answer = std::move(published); });
  world.pass(Millis{15});
  CHECK(!answer);
  world.pass(Millis{10});
  REQUIRE(answer);
  REQUIRE(*answer);
  CHECK((*answer)->dropped == 1);
}

TEST_CASE("closing ends the wait of a publisher") {
  World world(2);
  REQUIRE(world[1].add_registration("a", false, [](const Event&) {}));
  world.settle();
  fill(world[0]);
  auto publish =
      std::async(std::launch::async, [&] { return world[0].publish("a", {}, kBlock, kPatience); });
  world[0].close();
  CHECK(publish.get().error().code == Code::kClosed);
  CHECK(world[0].try_publish("a", {}, {}).error().code == Code::kClosed);
}

TEST_CASE("frames that the sockets do not take are kept, in order") {
  World world(2);
  Seen seen, sent;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  world.stations[0]->accepts = false;
  for (int i = 0; i < 50; ++i) {
    sent.push_back(std::to_string(i) + kBlock.substr(0, 20'000));
    REQUIRE(world[0].publish("a", {}, sent.back(), kPatience)->dropped == 0);
    world.settle();
  }
  CHECK(seen.empty());
  world.stations[0]->accepts = true;
  world.settle();
  CHECK(seen.empty());
  world[0].on_room(world.stations[1]->id);
  world.settle();
  CHECK((seen == sent));
}

TEST_CASE("all lanes together are bounded, and the largest pay first") {
  constexpr std::size_t kNodes = 24;
  World world(kNodes + 1);
  for (std::size_t i = 1; i < kNodes; ++i) {
    REQUIRE(world[i].add_registration("crowd", false, [](const Event&) {}));
  }
  Seen seen;
  REQUIRE(world[kNodes].add_registration("small", false, into(seen)));
  world.settle();
  world.stations[0]->accepts = false;
  std::uint32_t dropped = 0;
  for (int i = 0; i < 100; ++i) dropped += world[0].try_publish("crowd", {}, kBlock)->dropped;
  CHECK(dropped > 0);
  CHECK(world[0].stats().queued_bytes <= 2 * limits::kEventQueueBytes);
  CHECK(world[0].try_publish("small", {}, "little")->dropped == 0);
}
