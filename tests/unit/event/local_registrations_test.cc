#include "core/event/local_registrations.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;

namespace {

LocalRegistration registration(RegistrationId id, const char* pattern, bool sink = false) {
  return {id, TopicPattern::parse(pattern).value(), sink};
}

using Ids = std::vector<RegistrationId>;

Ids offered(LocalRegistrations& local, std::string_view topic, unsigned depth) {
  const auto ids = local.offered(topic, depth).value();
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE("the depth says how far up an event is offered to those that are no sinks") {
  LocalRegistrations local;
  REQUIRE(local.add(registration(1, "*")));
  REQUIRE(local.add(registration(2, "a")));
  REQUIRE(local.add(registration(3, "a.b")));
  REQUIRE(local.add(registration(4, "*", true)));
  REQUIRE(local.add(registration(5, "a.*")));
  CHECK(offered(local, "a.b", 2) == Ids{3, 4, 5});
  CHECK(offered(local, "a.b", 1) == Ids{2, 3, 4, 5});
  CHECK(offered(local, "a.b", 0) == Ids{1, 2, 3, 4, 5});
  CHECK(offered(local, "c", 0) == Ids{1, 4});
  CHECK(offered(local, "c", 1) == Ids{4});
}

TEST_CASE("a registration that the publisher does not know yet is offered the event all the same") {
  LocalRegistrations local;
  REQUIRE(local.add(registration(1, "*")));
  REQUIRE(local.add(registration(2, "a.b")));
  CHECK(offered(local, "a.b", 0) == Ids{1, 2});
}

TEST_CASE("nobody is offered an event whose registration has gone") {
  LocalRegistrations local;
  REQUIRE(local.add(registration(1, "a")));
  CHECK(offered(local, "a", 1) == Ids{1});
  REQUIRE(local.remove(1));
  CHECK(offered(local, "a", 1).empty());
  CHECK(local.find(1) == nullptr);
  CHECK(local.remove(1).error().code == Code::kNotFound);
}

TEST_CASE("registrations are offered an event in the order in which they were made") {
  LocalRegistrations local;
  for (const RegistrationId id : {5, 9, 12})
    REQUIRE(local.add(registration(id, id == 9 ? "a.b" : "a", true)));
  CHECK(offered(local, "a.b", 2) == Ids{5, 9, 12});
}

TEST_CASE("a topic from outside is checked, and a depth beyond the tree does no harm") {
  LocalRegistrations local;
  REQUIRE(local.add(registration(1, ">", true)));
  REQUIRE(local.add(registration(2, "a")));
  CHECK(local.offered("a..b", 0).error().code == Code::kInvalid);
  CHECK(local.offered("*", 0).error().code == Code::kInvalid);
  CHECK(offered(local, "a", 1'000'000) == Ids{1});
}

TEST_CASE("the advert changes only when what it says does") {
  LocalRegistrations local;
  CHECK(local.advert() == RegistrationAdvert{0, {}});
  CHECK(local.add(registration(1, "a")).value() == Interest{"a", true, false});
  CHECK(local.add(registration(2, "a")).value() == std::nullopt);
  CHECK(local.add(registration(3, "a", true)).value() == Interest{"a", true, true});
  CHECK(local.add(registration(4, "*", true)).value() == Interest{"*", false, true});
  CHECK(local.advert() == RegistrationAdvert{3, {{"*", false, true}, {"a", true, true}}});
  CHECK(local.remove(1).value() == std::nullopt);
  CHECK(local.version() == 3);
  CHECK(local.remove(2).value() == Interest{"a", false, true});
  CHECK(local.remove(3).value() == Interest{"a", false, false});
  CHECK(local.advert() == RegistrationAdvert{5, {{"*", false, true}}});
}

TEST_CASE("a node holds at most 200,000 registrations") {
  LocalRegistrations local;
  const auto pattern = TopicPattern::parse("a").value();
  for (RegistrationId id = 1; id <= limits::kRegistrations; ++id)
    REQUIRE(local.add({id, pattern, false}));
  const auto one_more = local.add(registration(limits::kRegistrations + 1, "a"));
  REQUIRE_FALSE(one_more);
  CHECK(one_more.error().code == Code::kFull);
  CHECK(local.size() == limits::kRegistrations);
  REQUIRE(local.remove(7));
  CHECK(local.add(registration(limits::kRegistrations + 1, "a")));
}
