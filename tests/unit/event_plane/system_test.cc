// Headrace's own events, below $sys.
#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/value/value_codec.h"
#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

EventPlane::Callback topics_into(Seen& seen) {
  return [&seen](const Event& event) { seen.emplace_back(event.topic); };
}

}  // namespace

TEST_CASE("an event of Headrace's own reaches this node's registrations and no other node") {
  World world(2);
  Seen here, there;
  REQUIRE(world[0].add_registration("$sys.member.>", false, topics_into(here)));
  REQUIRE(world[1].add_registration("$sys.member.>", false, topics_into(there)));
  world.settle();
  world[0].publish_system("$sys.member.dead", {});
  world.settle();
  CHECK(here == Seen{"$sys.member.dead"});
  CHECK(there.empty());
  CHECK(world[0].stats().sent_dropped == 0);
}

TEST_CASE("an event of Headrace's own brings its parameters, this node's id and an id of its own") {
  World world(1);
  std::vector<EventId> ids;
  REQUIRE(world[0].add_registration("$sys.member.dead", false, [&](const Event& event) {
    CHECK(event.params.get<std::string>("name") == "ann");
    CHECK(event.node == world.stations[0]->id);
    ids.push_back(event.id);
  }));
  REQUIRE(
      world[0].add_registration("a", false, [&](const Event& event) { ids.push_back(event.id); }));
  const auto params = encode(ParamSet{{"name", "ann"}}).value();
  world[0].publish_system("$sys.member.dead", params);
  REQUIRE(world[0].publish("a", {}, {}, kNone));
  world[0].publish_system("$sys.member.dead", params);
  world.settle();
  REQUIRE(ids.size() == 3);
  CHECK(ids[0] != ids[1]);
  CHECK(ids[0] != ids[2]);
  CHECK(ids[1] != ids[2]);
}

TEST_CASE("neither the root nor a pattern hears Headrace's own events unless it begins with $sys") {
  World world(1);
  Seen seen;
  for (const auto* topic : {"*", "*.member.dead", ">", "*.>"}) {
    REQUIRE(world[0].add_registration(topic, true, topics_into(seen)));
  }
  world[0].publish_system("$sys.member.dead", {});
  world.settle();
  CHECK(seen.empty());
  CHECK(world[0].publish("$sys.member.dead", {}, {}, kNone).error().code == Code::kForbidden);
}

TEST_CASE("what other nodes registered for does not hide Headrace's own events here") {
  World world(2);
  Seen plain, sink;
  REQUIRE(world[1].add_registration("$sys.member.dead", false, [](const Event&) {}));
  REQUIRE(world[0].add_registration("$sys.member", false, topics_into(plain)));
  REQUIRE(world[0].add_registration("$sys", true, topics_into(sink)));
  world.settle();
  world[0].publish_system("$sys.member.dead", {});
  world.settle();
  CHECK(plain == Seen{"$sys.member.dead"});
  CHECK(sink == Seen{"$sys.member.dead"});

  REQUIRE(world[0].add_registration("$sys.member.dead", false, [](const Event&) {}));
  world[0].publish_system("$sys.member.dead", {});
  world.settle();
  CHECK(plain.size() == 1);  // a more specific one of this node took it
  CHECK(sink.size() == 2);
}

TEST_CASE("whoever never reads Headrace's own events costs bounded memory, and is told less") {
  World world(1);
  std::size_t seen = 0;
  REQUIRE(world[0].add_registration("$sys.>", false, [&](const Event&) { ++seen; }));
  const Bytes params = encode(ParamSet{{"name", std::string(1000, 'n')}}).value();
  constexpr std::size_t kMany = 3 * limits::kRegistrationQueueBytes / 1000;
  for (std::size_t i = 0; i < kMany; ++i) world[0].publish_system("$sys.member.dead", params);
  world.live(Millis{500});
  CHECK(seen > 0);
  CHECK(seen + world[0].stats().sent_dropped == kMany);
  CHECK(seen <= limits::kRegistrationQueueBytes / 1000 + 1024);
  CHECK(world[0].idle());
}
