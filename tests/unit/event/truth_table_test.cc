// Who is offered an event: the table of the WebLogic topic tree, with registrations spread over
// one, two and five nodes, published from each of them.
#include <catch2/catch.hpp>
#include <map>

#include "tests/unit/event/cluster.h"

using namespace headrace;
using test::Cluster;

namespace {

struct Standing {
  std::string topic;
  bool sink;
};
constexpr bool kPlain = false;
constexpr bool kSink = true;

struct Case {
  std::string what;
  std::vector<Standing> registrations;
  std::vector<std::size_t> offered;  // of a.b.c: by place in the list
};

const std::vector<Case> kTable{
    {"a sink at the root sees what was delivered below",
     {{"a.b.c", kPlain}, {"a.b", kPlain}, {"*", kSink}},
     {0, 2}},
    {"the exact topic alone, nothing else being a sink",
     {{"a.b.c", kPlain}, {"a.b", kPlain}, {"a", kPlain}},
     {0}},
    {"nobody at the exact topic: the next above it", {{"a.b", kPlain}, {"a", kPlain}}, {0}},
    {"all at one topic together, then the sinks above",
     {{"a.b", kPlain}, {"a.b", kPlain}, {"a", kSink}, {"*", kPlain}},
     {0, 1, 2}},
    {"the root catches what nobody registered for", {{"*", kPlain}}, {0}},
    {"a sink in the middle changes nothing for those above",
     {{"a.b.c", kPlain}, {"a.b", kSink}, {"a", kPlain}, {"*", kPlain}},
     {0, 1}},
    {"nobody anywhere", {}, {}},
    {"topics beside the walk do not count",
     {{"a.b.d", kPlain}, {"a.b.c.d", kPlain}, {"b", kSink}, {"a", kPlain}},
     {3}},
    {"a sink below is delivery too", {{"a.b", kSink}, {"a", kPlain}, {"*", kPlain}}, {0}},
    {"a plain one beside a sink at one topic",
     {{"a", kSink}, {"a", kPlain}, {"*", kSink}},
     {0, 1, 2}},
    {"a pattern that matches stands at the exact topic",
     {{"a.*.c", kPlain}, {"a.b.c", kPlain}, {"a.b", kPlain}},
     {0, 1}},
    {"a pattern alone is delivery at the exact topic",
     {{"a.>", kPlain}, {"a.b", kPlain}, {"*", kPlain}},
     {0}},
    {"a sink pattern is delivery at the exact topic",
     {{"a.*.*", kSink}, {"a", kPlain}, {"*", kSink}},
     {0, 2}},
    {"a pattern that does not match does not count",
     {{"a.*", kSink}, {"a.*.d", kPlain}, {"a", kPlain}},
     {2}},
};

}  // namespace

TEST_CASE("an event is offered as the table says, wherever registrations and publisher are") {
  for (const auto& row : kTable) {
    for (const std::size_t nodes : {1, 2, 5}) {
      for (std::size_t shift = 0; shift < nodes; ++shift) {
        Cluster cluster(nodes);
        std::vector<RegistrationId> ids;
        for (std::size_t i = 0; i < row.registrations.size(); ++i) {
          const auto& [topic, sink] = row.registrations[i];
          ids.push_back(cluster.add((i + shift) % nodes, topic, sink));
        }
        cluster.converge();
        std::set<RegistrationId> expected;
        for (const auto place : row.offered) expected.insert(ids[place]);
        for (std::size_t from = 0; from < nodes; ++from) {
          CAPTURE(row.what, nodes, shift, from);
          CHECK(cluster.publish(from, "a.b.c") == expected);
        }
      }
    }
  }
}

TEST_CASE("when the last registration of a topic goes, the next publish climbs past it") {
  Cluster cluster(2);
  const auto exact = cluster.add(0, "a.b.c", kPlain);
  const auto above = cluster.add(1, "a.b", kPlain);
  const auto tap = cluster.add(0, "*", kSink);
  cluster.converge();
  CHECK(cluster.publish(1, "a.b.c") == std::set{exact, tap});
  cluster.remove(0, exact);
  cluster.converge();
  CHECK(cluster.publish(1, "a.b.c") == std::set{above, tap});
}

TEST_CASE("events never go down the tree") {
  Cluster cluster(2);
  cluster.add(0, "a.b.c", kSink);
  cluster.converge();
  CHECK(cluster.publish(1, "a.b").empty());
  CHECK(cluster.publish(1, "a").empty());
}

TEST_CASE("neither the root nor a wildcard hears the system's topics") {
  Cluster cluster(1);
  cluster.add(0, "*", kSink);
  cluster.add(0, ">", kSink);
  cluster.add(0, "*.member", kSink);
  cluster.converge();
  CHECK(cluster.publish(0, "$sys.member").empty());
  const auto below = cluster.add(0, "$sys", kPlain);
  const auto all = cluster.add(0, "$sys.>", kSink);
  cluster.converge();
  CHECK(cluster.publish(0, "$sys.member") == std::set{all});
  CHECK(cluster.publish(0, "$sys") == std::set{below});
}

TEST_CASE("a destination gets one copy however many registrations it has") {
  Cluster cluster(3);
  for (int i = 0; i < 10; ++i) cluster.add(1, i % 2 ? "a.b" : "a", kSink);
  cluster.converge();
  const auto& route = **cluster.router(0).route("a.b");
  CHECK(route.remotes == std::vector{test::node_id(1)});
  CHECK_FALSE(route.local);
  CHECK(route.depth == 2);
  CHECK(cluster.router(0).match_count("a.b") == 1);
  CHECK(cluster.router(1).match_count("a.b") == 1);
  CHECK((*cluster.router(1).route("a.b"))->local);
}
