#include <catch2/catch.hpp>

#include "core/base/random.h"
#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

TEST_CASE("frames that get lost are counted, and their place in the window comes back") {
  World world(2);
  std::vector<std::uint64_t> seen;
  REQUIRE(world[1].add_registration("a", false,
                                    [&](const Event& event) { seen.push_back(event.seq); }));
  world.settle();
  Random random(5);
  std::size_t lost_frames = 0;
  world.lose = [&](std::size_t, const Bytes&) {
    const bool lost = random.chance(0.3);
    lost_frames += lost;
    return lost;
  };
  const Bytes block(30'000, 'x');
  std::size_t sent = 0, dropped = 0;
  for (int i = 0; i < 2'000; ++i) {
    const auto published = world[0].try_publish("a", {}, block);
    REQUIRE(published);
    ++sent;
    dropped += published->dropped;
    world.settle();
    if (i % 20 == 0) world.live(Millis{50});
  }
  CHECK(lost_frames > 300);
  world.lose = [](std::size_t, const Bytes&) { return false; };
  world.live(Millis{3'000});
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  const auto missing = sent - dropped - seen.size();
  CHECK(world[1].stats().lost_bytes >= missing * block.size());
  CHECK(world[1].stats().lost_bytes <= missing * (block.size() + 100));
  for (int i = 0; i < 120; ++i) {
    CHECK(world[0].try_publish("a", {}, block)->dropped == 0);  // a whole window, but for a little
  }
}

TEST_CASE("a large payload that lost a piece is lost with all of it, and nothing else is") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  int frames = 0;
  world.lose = [&](std::size_t, const Bytes&) { return frames++ == 2; };
  REQUIRE(world[0].publish("a", {}, Bytes(5 * limits::kChunkBytes, 'x'), kPatience));
  world.settle();
  REQUIRE(world[0].publish("a", {}, "next", kPatience)->dropped == 0);
  world.settle();
  CHECK(seen == Seen{"next"});
}

TEST_CASE("a new life of the destination gets nothing that was meant for the old one") {
  World world(2);
  REQUIRE(world[1].add_registration("a", false, [](const Event&) {}));
  world.settle();
  for (int i = 0; i < 10; ++i) REQUIRE(world[0].publish("a", {}, "old", kPatience));
  world.restart(1);
  CHECK(world[0].stats().sent_dropped == 10);
  CHECK(world[0].match_count("a") == 0);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  REQUIRE(world[0].publish("a", {}, "new", kPatience)->dropped == 0);
  world.settle();
  CHECK(seen == Seen{"new"});
}

TEST_CASE("a new life of the publisher is heard from the start") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(world[0].publish("a", {}, std::to_string(i), kPatience)->dropped == 0);
    world.settle();
    world.restart(0);
    world.settle();
  }
  CHECK(seen == Seen{"0", "1", "2"});
}

TEST_CASE("a node that was believed dead is served again, whichever side believed it") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  REQUIRE(world[0].publish("a", {}, "first", kPatience)->dropped == 0);
  world.settle();
  const auto& subscriber = *world.stations[1];
  const bool at_publisher = GENERATE(true, false);
  const bool at_subscriber = GENERATE(true, false);
  if (at_subscriber) world[1].remove_member(world.stations[0]->id);
  if (at_publisher) {
    world[0].remove_member(subscriber.id);
    CHECK(world[0].match_count("a") == 0);
    world[0].set_member(subscriber.id, 1, subscriber.advert);
  }
  world.settle();
  // What was sent before both agree on a session may be lost; then nothing is.
  REQUIRE(world[0].publish("a", {}, "second", kPatience));
  world.live(Millis{2'000});
  REQUIRE(world[0].publish("a", {}, "third", kPatience)->dropped == 0);
  world.settle();
  REQUIRE(seen.size() >= 2);
  CHECK(seen.front() == "first");
  CHECK(seen.back() == "third");
  if (!at_subscriber) CHECK(seen.size() == 3);
}

TEST_CASE("under another incarnation a node goes on, and its registrations stay") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  REQUIRE(world[0].publish("a", {}, "first", kPatience)->dropped == 0);
  world.settle();
  auto& station = *world.stations[1];
  station.life = 5;
  world[1].restart(5);
  world[1].set_member(world.stations[0]->id, 1, world.stations[0]->advert);
  world.settle();
  REQUIRE(world[0].publish("a", {}, "second", kPatience)->dropped == 0);
  world.settle();
  CHECK(seen == Seen{"first", "second"});
}
