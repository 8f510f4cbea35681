// Opening a node: what it takes, whom it finds, and how it says what is wrong.
#include <unistd.h>

#include <fstream>

#include "tests/system/node_support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("a node alone is ready at once and knows itself") {
  const auto node = must(Node::open({.name = "solo", .tags = {{"role", "test"}}}));
  auto& mutable_node = const_cast<Node&>(node);
  must(mutable_node.wait_ready(kLong));
  CHECK(node.name() == "solo");
  CHECK(node.endpoint().starts_with("tcp://127.0.0.1:"));
  REQUIRE(eventually([&] { return node.members().size() == 1; }));
  const auto self = node.members().front();
  CHECK(self.id == node.id());
  CHECK(self.name == "solo");
  CHECK(self.state == "alive");
  CHECK(self.endpoint == node.endpoint());
  CHECK(self.tags == std::map<std::string, std::string>{{"role", "test"}});
}

TEST_CASE("nodes find each other through one of them") {
  auto first = must(Node::open());
  auto second = must(Node::open({.join = {first.endpoint()}}));
  auto third = must(Node::open({.join = {first.endpoint()}}));
  must(second.wait_ready(kLong));
  must(third.wait_ready(kLong));
  for (const auto* node : {&first, &second, &third}) {
    CHECK(eventually([&] {
      const auto members = node->members();
      return members.size() == 3 &&
             std::all_of(members.begin(), members.end(),
                         [](const auto& member) { return member.state == "alive"; });
    }));
  }
}

TEST_CASE("nodes of another cluster do not hear each other") {
  auto first = must(Node::open({.cluster = "one"}));
  auto second = must(Node::open({.join = {first.endpoint()}, .cluster = "two"}));
  CHECK(second.wait_ready(Millis{700}).error().code == Code::kTimeout);
  CHECK(first.members().size() == 1);
}

TEST_CASE("a data directory is one node's at a time, and the error names its holder") {
  TemporaryDirectory directory;
  const auto holder = open_owner(directory);
  const auto refused = Node::open({.data = directory.path()});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInUse);
  CHECK(refused.error().message.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(refused.error().message.find(directory.path().string()) != std::string::npos);
}

TEST_CASE("a port that is taken is an error that names it") {
  const auto first = must(Node::open());
  const auto refused = Node::open({.listen = first.endpoint()});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInUse);
  CHECK(refused.error().message.find(first.endpoint()) != std::string::npos);
}

TEST_CASE(
    "a node with a data directory is the same node at its next start, in a later incarnation") {
  TemporaryDirectory directory;
  NodeId id;
  Incarnation incarnation = 0;
  {
    auto node = must(Node::open({.data = directory.path()}));
    id = node.id();
    REQUIRE(eventually([&] { return !node.members().empty(); }));
    incarnation = node.members().front().incarnation;
    must(node.close());
  }
  auto again = must(Node::open({.data = directory.path()}));
  CHECK(again.id() == id);
  REQUIRE(eventually([&] { return !again.members().empty(); }));
  CHECK(again.members().front().incarnation > incarnation);
}

TEST_CASE("a damaged key file keeps the node from opening as somebody else") {
  TemporaryDirectory directory;
  must(open_owner(directory).close());
  std::ofstream(directory.path() / "identity.key", std::ios::trunc) << "garbage";
  const auto refused = Node::open({.data = directory.path()});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kStore);
}
