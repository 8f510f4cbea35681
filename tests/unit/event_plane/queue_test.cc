#include <catch2/catch.hpp>

#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

const Bytes kBlock(60'000, 'x');

}  // namespace

TEST_CASE("a registration whose callbacks stand still loses events, and the others none") {
  World world(2);
  Seen lively, still;
  REQUIRE(world[1].add_registration("a", false, into(lively)));
  const auto id = world[1].add_registration("a", false, into(still));
  REQUIRE(id);
  world.settle();
  std::size_t sent = 0;
  for (; sent < 600; ++sent) {
    REQUIRE(world[0].publish("a", {}, kBlock, kNone)->dropped == 0);
    world.pump();
    std::erase(world.stations[1]->runnable, *id);
    world.run();
    world.pass(Millis{5});
    world.pump();
    world.run();
  }
  world.live(Millis{200});
  CHECK(lively.size() == sent);
  const auto dropped = world[1].stats().queue_dropped;
  CHECK(dropped > 0);
  world[1].run(*id);  // at last
  world.settle();
  CHECK(still.size() == sent - dropped);
  CHECK(still.size() * kBlock.size() <= limits::kRegistrationQueueBytes);
  CHECK(still.size() * kBlock.size() >= limits::kRegistrationQueueBytes - 4 * kBlock.size());
}

TEST_CASE("a full queue whose callbacks go on holds the publisher back, and nothing is lost") {
  World world(2);
  std::size_t seen = 0;
  REQUIRE(world[1].add_registration("a", false, [&](const Event&) {
    ++seen;
    world.advance(Millis{6});  // a slow one: each turn of the worker is one event
  }));
  world.settle();
  std::size_t sent = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    const auto published = world[0].try_publish("a", {}, kBlock);
    REQUIRE(published);
    published->dropped == 0 ? ++sent : ++refused;
    world.pump();
    if (i % 4 == 0 && !world.stations[1]->runnable.empty()) {
      for (const auto id : std::exchange(world.stations[1]->runnable, {})) world[1].run(id);
    }
    world.pass(Millis{5});
  }
  CHECK(refused > 0);
  world.live(Millis{20'000});
  CHECK(seen == sent);
  CHECK(world[1].stats().queue_dropped == 0);
  CHECK(world[1].stats().lost_bytes == 0);
}

TEST_CASE("small events out of large frames do not outgrow the queue that keeps them") {
  World world(2);
  Seen seen;
  const auto id = world[1].add_registration("rare", false, into(seen));
  REQUIRE(id);
  REQUIRE(world[1].add_registration("often", false, [](const Event&) {}));
  world.settle();
  // Each frame carries one rare event: what it keeps alive is the whole frame.
  std::size_t sent = 0;
  for (; sent < 400; ++sent) {
    REQUIRE(world[0].publish("rare", {}, "r", kNone)->dropped == 0);
    REQUIRE(world[0].publish("often", {}, kBlock, kNone)->dropped == 0);
    world.pump();
    std::erase(world.stations[1]->runnable, *id);
    world.run();
    world.pass(Millis{5});
  }
  world.pass(Millis{100});
  world.pump();
  world[1].run(*id);
  world.settle();
  CHECK(world[1].stats().queue_dropped == sent - seen.size());
  CHECK(seen.size() <= limits::kRegistrationQueueBytes / kBlock.size());
}

TEST_CASE("a node that publishes to its own full registration drops and counts") {
  World world(1);
  Seen seen;
  REQUIRE(world[0].add_registration("a", false, into(seen)));
  std::size_t sent = 0;
  while (world[0].try_publish("a", {}, kBlock)->dropped == 0) REQUIRE(++sent < 1000);
  CHECK(sent <= limits::kRegistrationQueueBytes / kBlock.size());
  CHECK(sent >= limits::kRegistrationQueueBytes / (kBlock.size() + 1'000));
  std::optional<std::uint32_t> dropped;
  world[0].publish_async("a", {}, kBlock, kPatience,
                         [&](const Result<Published>& published) { dropped = published->dropped; });
  CHECK(!dropped);
  SECTION("in the end, if its callbacks stand still") {
    world.pass(Millis{70});
    REQUIRE(dropped);
    CHECK(*dropped == 1);
  }
  SECTION("but waits while they go on") {
    world.settle();
    REQUIRE(dropped);
    CHECK(*dropped == 0);
    CHECK(seen.size() == sent + 1);
  }
}
