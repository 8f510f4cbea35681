#include "core/event/event_router.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "tests/unit/event/cluster.h"

using namespace headrace;
using test::node_id;

namespace {

RegistrationAdvert advert(std::uint64_t version, std::vector<Interest> interests) {
  return {version, std::move(interests)};
}

std::vector<NodeId> remotes(EventRouter& router, const char* topic) {
  return (*router.route(topic))->remotes;
}

}  // namespace

TEST_CASE("publishing to what is no topic is an error on the spot") {
  EventRouter router(node_id(0));
  for (const auto* topic : {"", "a..b", "a.*", "*", ">", "a b"}) {
    CAPTURE(topic);
    CHECK(router.route(topic).error().code == Code::kInvalid);
    CHECK(router.match_count(topic) == 0);
  }
}

TEST_CASE("nobody registered is an answer, not an error") {
  EventRouter router(node_id(0));
  const auto route = router.route("a.b");
  REQUIRE(route);
  CHECK((*route)->destinations() == 0);
}

TEST_CASE("an answer that was kept is void once an advert changes") {
  EventRouter router(node_id(0));
  REQUIRE(router.set_advert(node_id(1), advert(1, {{"a", true, false}})));
  CHECK(remotes(router, "a.b") == std::vector{node_id(1)});
  REQUIRE(router.set_advert(node_id(2), advert(1, {{"a.b", true, false}})));
  CHECK(remotes(router, "a.b") == std::vector{node_id(2)});
  REQUIRE(router.set_advert(node_id(1), advert(2, {{"a", false, true}})));
  CHECK(remotes(router, "a.b") == std::vector{node_id(1), node_id(2)});
  router.remove(node_id(2));
  CHECK(remotes(router, "a.b") == std::vector{node_id(1)});
  router.remove(node_id(2));
  router.remove(node_id(1));
  CHECK(router.match_count("a.b") == 0);
}

TEST_CASE("a new advert replaces the whole of the old one") {
  EventRouter router(node_id(0));
  REQUIRE(router.set_advert(
      node_id(1), advert(1, {{"a", true, true}, {"b", true, false}, {"c", false, true}})));
  REQUIRE(router.set_advert(node_id(1), advert(2, {{"b", true, false}, {"d", true, false}})));
  CHECK(router.match_count("a") == 0);
  CHECK(router.match_count("b") == 1);
  CHECK(router.match_count("c") == 0);
  CHECK(router.match_count("d") == 1);
}

TEST_CASE("an advert that breaks its rules is refused whole") {
  EventRouter router(node_id(0));
  REQUIRE(router.set_advert(node_id(1), advert(1, {{"a", true, false}})));
  for (const auto& bad :
       {advert(2, {{"b", true, false}, {"c d", true, false}}), advert(2, {{"b", false, false}}),
        advert(2, {{"c", true, false}, {"b", true, false}}),
        advert(2, {{"b", true, false}, {"b", false, true}})}) {
    const auto result = router.set_advert(node_id(1), bad);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == Code::kProtocol);
    CHECK(router.match_count("a") == 1);
    CHECK(router.match_count("b") == 0);
  }
}

TEST_CASE("a node's advert holds at most 200,000 topics") {
  RegistrationAdvert full{1, {}};
  for (std::size_t i = 0; i < limits::kRegistrations; ++i) {
    full.interests.push_back({std::to_string(1'000'000 + i), true, false});
  }
  EventRouter router(node_id(0));
  CHECK(router.set_advert(node_id(1), full));
  CHECK(router.match_count("1199999") == 1);
  full.interests.push_back({"z", true, false});
  CHECK_FALSE(router.set_advert(node_id(1), full));
}

TEST_CASE("what a node says is gone is gone until its next advert") {
  EventRouter router(node_id(0));
  const auto first =
      advert(1, {{"*", false, true}, {"a", true, false}, {"a.*", true, true}, {"b", true, false}});
  REQUIRE(router.set_advert(node_id(1), first));
  REQUIRE((*router.route("a.x"))->depth == 2);
  router.gone(node_id(1), "a.x", 2, 2);
  // Whatever would be offered a.x at depth 2 has gone; what stands above without the sink flag was
  // not asked.
  CHECK((*router.route("a.x"))->depth == 1);
  CHECK(router.match_count("c") == 0);
  CHECK(router.match_count("b") == 1);
  REQUIRE(router.set_advert(node_id(1), advert(2, {{"a.*", true, true}})));
  CHECK((*router.route("a.x"))->depth == 2);
  CHECK(router.match_count("b") == 0);
}

TEST_CASE("a gone that is older than the advert known, or from a stranger, changes nothing") {
  EventRouter router(node_id(0));
  REQUIRE(router.set_advert(node_id(1), advert(3, {{"a", true, false}})));
  router.gone(node_id(1), "a", 1, 3);
  router.gone(node_id(2), "a", 1, 9);
  router.gone(node_id(1), "no topic", 1, 9);
  CHECK(router.match_count("a") == 1);
}

TEST_CASE("more topics than the cache holds are answered all the same") {
  EventRouter router(node_id(0));
  REQUIRE(router.set_advert(node_id(1), advert(1, {{"a", true, false}})));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 60'000; ++i) REQUIRE(router.match_count("a." + std::to_string(i)) == 1);
  }
}

TEST_CASE("a cache starts anew when it is full, and keeps what it was just given") {
  TopicCache<int> cache(1000);
  for (int i = 0; i < 1000; ++i) {
    const auto key = std::to_string(i);
    cache.put(key, i, 50);
    REQUIRE(*cache.find(key) == i);
    REQUIRE(cache.size() <= 1000 / 50);
  }
  CHECK(cache.find("0") == nullptr);
}
