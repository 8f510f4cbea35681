#include <catch2/catch.hpp>

#include "core/value/value_codec.h"
#include "tests/unit/event_plane/world.h"

using namespace headrace;
using namespace headrace::runtime;

TEST_CASE("events of one publisher arrive at another node once and in order") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a.b", false, into(seen)));
  world.settle();
  Seen sent;
  for (int i = 0; i < 5000; ++i) {
    sent.push_back(std::to_string(i));
    const auto published = world[0].publish("a.b", {}, sent.back(), kPatience);
    REQUIRE(published);
    REQUIRE(published->destinations == 1);
    REQUIRE(published->dropped == 0);
    if (i % 700 == 0) world.settle();
  }
  world.settle();
  CHECK(seen == sent);
  CHECK(world[0].idle());
  CHECK(world[1].idle());
}

TEST_CASE("a callback is told all about its event") {
  World world(2);
  const auto params = encode(ParamSet{{"size", 12}});
  REQUIRE(params);
  EventId id;
  int calls = 0;
  REQUIRE(world[1].add_registration("*", false, [&](const Event& event) {
    ++calls;
    CHECK(event.topic == "a.b");
    CHECK(event.params.get<int>("size") == 12);
    CHECK(event.payload == "payload");
    CHECK(event.node == world.stations[0]->id);
    CHECK(event.time == world.wall);
    CHECK(event.seq == 1);
    id = event.id;
  }));
  world.settle();
  const auto published = world[0].publish("a.b", *params, "payload", kNone);
  REQUIRE(published);
  world.settle();
  CHECK(calls == 1);
  CHECK(id == published->id);
}

TEST_CASE(
    "an event goes to the exact topic and to sinks, and to others above only if there is none") {
  World world(3);
  Seen exact, sink, above, root;
  REQUIRE(world[1].add_registration("a.b.c", false, into(exact)));
  REQUIRE(world[2].add_registration("a.b", true, into(sink)));
  REQUIRE(world[2].add_registration("a", false, into(above)));
  REQUIRE(world[0].add_registration("*", false, into(root)));
  world.settle();
  CHECK(world[0].match_count("a.b.c") == 2);
  for (const auto* topic : {"a.b.c", "a.b.x", "a.x", "x"}) {
    REQUIRE(world[0].publish(topic, {}, topic, kPatience));
  }
  world.settle();
  CHECK(exact == Seen{"a.b.c"});
  CHECK(sink == Seen{"a.b.c", "a.b.x"});
  CHECK(above == Seen{"a.x"});
  CHECK(root == Seen{"x"});
}

TEST_CASE("a node's own registrations are served without the network") {
  World world(1);
  Seen first, second;
  REQUIRE(world[0].add_registration("a", false, into(first)));
  REQUIRE(world[0].add_registration("*", true, into(second)));
  const auto published = world[0].publish("a", {}, "hello", kNone);
  REQUIRE(published);
  CHECK(published->destinations == 1);
  world.run();
  CHECK(first == Seen{"hello"});
  CHECK(second == Seen{"hello"});
  CHECK(world[0].stats().delivered == 2);
}

TEST_CASE("an event that nobody registered for has no destinations") {
  World world(1);
  const auto published = world[0].publish("a", {}, "", kNone);
  REQUIRE(published);
  CHECK(published->destinations == 0);
  CHECK(world[0].match_count("a") == 0);
}

TEST_CASE("what cannot be an event is refused with nothing done") {
  World world(1);
  CHECK(world[0].publish("$sys.member", {}, {}, kNone).error().code == Code::kForbidden);
  CHECK(world[0].try_publish("a..b", {}, {}).error().code == Code::kInvalid);
  CHECK(world[0].publish("a.*", {}, {}, kNone).error().code == Code::kInvalid);
  const Bytes large(limits::kEventPayloadBytes + 1, 'x');
  CHECK(world[0].publish("a", {}, large, kNone).error().code == Code::kInvalid);
  CHECK(world[0].publish("a", large.substr(0, limits::kParamsBytes + 1), {}, kNone).error().code ==
        Code::kInvalid);
  CHECK(world[0].add_registration("a..b", false, [](const Event&) {}).error().code ==
        Code::kInvalid);
  CHECK(world[0].stats().published == 0);
}

TEST_CASE("payloads up to the largest arrive whole, in order with the small") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  Seen sent{"before"};
  for (const auto size : {limits::kChunkBytes, limits::kChunkBytes + 1, std::size_t{3} << 20,
                          limits::kEventPayloadBytes}) {
    sent.emplace_back(size, static_cast<char>('a' + sent.size()));
  }
  sent.push_back("behind");
  for (const auto& payload : sent) {
    const auto published = world[0].publish("a", {}, payload, kPatience);
    REQUIRE(published);
    REQUIRE(published->dropped == 0);
    world.settle();
  }
  CHECK((seen == sent));
  CHECK(world[1].stats().lost_bytes == 0);
}

TEST_CASE("one event goes to many nodes, the large ones too") {
  World world(5);
  std::vector<Seen> seen(5);
  for (std::size_t i = 1; i < 5; ++i) REQUIRE(world[i].add_registration("a", false, into(seen[i])));
  world.settle();
  const Seen sent{"small", Bytes(limits::kChunkBytes * 2 + 7, 'x'), "again"};
  for (const auto& payload : sent) {
    const auto published = world[0].publish("a", {}, payload, kPatience);
    REQUIRE(published);
    CHECK(published->destinations == 4);
  }
  world.settle();
  for (std::size_t i = 1; i < 5; ++i) CHECK((seen[i] == sent));
}

TEST_CASE("what a callback throws is counted and noted, and the next event comes all the same") {
  World world(1);
  Seen seen;
  REQUIRE(world[0].add_registration("a", false, [&](const Event& event) {
    if (event.payload == "bad") throw std::runtime_error("no good");
    if (event.payload == "odd") throw 7;
    seen.emplace_back(event.payload);
  }));
  for (const auto* payload : {"bad", "odd", "good"})
    REQUIRE(world[0].publish("a", {}, payload, kNone));
  world.run();
  CHECK(seen == Seen{"good"});
  CHECK(world[0].stats().callbacks_failed == 2);
  REQUIRE(world.stations[0]->notes.size() == 2);
  CHECK(world.stations[0]->notes[0].find("no good") != std::string::npos);
}

TEST_CASE("parameters that cannot be decoded are counted against that event alone") {
  World world(1);
  int calls = 0;
  REQUIRE(world[0].add_registration("a", false, [&](const Event&) { ++calls; }));
  REQUIRE(world[0].publish("a", "\xc1", {}, kNone));
  REQUIRE(world[0].publish("a", {}, {}, kNone));
  world.run();
  CHECK(calls == 1);
  CHECK(world[0].stats().callbacks_failed == 1);
}

TEST_CASE("garbage from a peer is counted and does no harm") {
  World world(2);
  Seen seen;
  REQUIRE(world[1].add_registration("a", false, into(seen)));
  world.settle();
  const job::Now now{world.now(), world.wall};
  for (const Bytes message : {"", "\xc1", "\x91\x4b", "\x93\x4b\xc4\x01\x00\x94\x01\x01\x00\x01",
                              "\x92\x48\x90", "\x92\x4a\x90", "\x91\x77"}) {
    world[1].receive(now, world.stations[0]->id, 1, message, nullptr);
  }
  CHECK(world[1].stats().malformed == 7);
  REQUIRE(world[0].publish("a", {}, "good", kNone));
  world.settle();
  CHECK(seen == Seen{"good"});
}
