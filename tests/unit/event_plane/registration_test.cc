#include <catch2/catch.hpp>

#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

TEST_CASE("a registration that is removed gets nothing more, not even what waits for it") {
  World world(2);
  Seen seen;
  const auto id = world[1].add_registration("a", false, into(seen));
  REQUIRE(id);
  world.settle();
  REQUIRE(world[0].publish("a", {}, "one", kPatience));
  world.settle();
  REQUIRE(world[0].publish("a", {}, "two", kPatience));
  world.pump();
  CHECK(world[1].remove_registration(*id));
  CHECK(!world[1].remove_registration(*id));
  world.settle();
  CHECK(seen == Seen{"one"});
  CHECK(world[0].match_count("a") == 0);
  CHECK(world[1].idle());
}

TEST_CASE("a callback may remove its own registration") {
  World world(1);
  Seen seen;
  RegistrationId id = 0;
  bool removed = false;
  id = *world[0].add_registration("a", false, [&](const Event& event) {
    seen.emplace_back(event.payload);
    removed = world[0].remove_registration(id);
  });
  for (const auto* payload : {"one", "two"}) REQUIRE(world[0].publish("a", {}, payload, kNone));
  world.run();
  CHECK(removed);
  CHECK(seen == Seen{"one"});
  CHECK(world[0].idle());
}

TEST_CASE("a callback may publish and register") {
  World world(1);
  Seen seen;
  REQUIRE(world[0].add_registration("a", false, [&](const Event& event) {
    REQUIRE(world[0].add_registration("b", false, into(seen)));
    REQUIRE(world[0].publish("b", {}, event.payload, kPatience)->destinations == 1);
  }));
  REQUIRE(world[0].publish("a", {}, "echo", kNone));
  world.run();
  CHECK(seen == Seen{"echo"});
}

TEST_CASE("a publisher with an old view is told that the registration is gone") {
  World world(2);
  Seen root;
  const auto id = world[1].add_registration("a.b", false, [](const Event&) {});
  REQUIRE(id);
  REQUIRE(world[0].add_registration("*", false, into(root)));
  world.settle();
  const auto old = world.stations[1]->advert;
  REQUIRE(world[1].remove_registration(*id));
  world[1].flush([](const NodeId&, Bytes&) { return false; });
  world.stations[1]->advertised = true;  // the advert of it is still on its way
  for (int i = 0; i < 3; ++i) REQUIRE(world[0].publish("a.b", {}, "for nobody", kPatience));
  world.settle();
  CHECK(world[1].stats().unwanted == 3);
  CHECK(world[0].match_count("a.b") == 1);  // the root's, now
  REQUIRE(world[0].publish("a.b", {}, "for the root", kPatience));
  world.settle();
  CHECK(root == Seen{"for the root"});

  const auto again = world[1].add_registration("a.b", false, [](const Event&) {});
  REQUIRE(again);
  world.settle();
  CHECK(world[0].match_count("a.b") == 1);
  REQUIRE(world[0].publish("a.b", {}, "for it", kPatience));
  world.settle();
  CHECK(root.size() == 1);
}

TEST_CASE("nothing is delivered after closing") {
  World world(1);
  Seen seen;
  REQUIRE(world[0].add_registration("a", false, into(seen)));
  REQUIRE(world[0].publish("a", {}, "late", kNone));
  world[0].close();
  world.run();
  CHECK(seen.empty());
  CHECK(world[0].add_registration("a", false, into(seen)).error().code == Code::kClosed);
}
