// Events between whole nodes.
#include <string>
#include <vector>

#include "tests/system/node_support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("a node hears its own events and those of others, in order") {
  auto first = must(Node::open());
  auto second = must(Node::open({.join = {first.endpoint()}}));
  must(second.wait_ready(kLong));
  Slot<std::vector<std::string>> heard;
  const auto note = [&](const Event& event) {
    const auto line = std::string(event.topic) + " " + std::string(event.payload) + " " +
                      std::to_string(event.params.get<int>("n").value_or(-1)) + " " +
                      event.node.hex();
    heard.change([&](auto& all) { all.push_back(line); });
  };
  const auto registration = must(first.on("weather.us", note));
  REQUIRE(eventually([&] { return second.match_count("weather.us") == 1; }));
  std::vector<std::string> expected;
  for (auto* node : {&first, &second}) {
    for (int i = 0; i < 50; ++i) {
      const auto published = must(node->publish("weather.us", {{"n", i}}, "rain", kLong));
      CHECK(published.destinations == 1);
      CHECK(published.dropped == 0);
      expected.push_back("weather.us rain " + std::to_string(i) + " " + node->id().hex());
    }
    REQUIRE(heard.wait([&](const auto& all) { return all.size() == expected.size(); }));
  }
  CHECK(heard.get() == expected);
}

TEST_CASE("what nobody registered for goes nowhere, and that is no error") {
  auto node = must(Node::open());
  CHECK(node.match_count("a.b") == 0);
  const auto published = must(node.publish("a.b"));
  CHECK(published.destinations == 0);
  CHECK(node.publish("not a topic").error().code == Code::kInvalid);
}

TEST_CASE("after unregistering no callback starts") {
  auto node = must(Node::open());
  Slot<int> heard;
  auto registration =
      must(node.on("a", [&](const Event&) { heard.change([](int& count) { ++count; }); }));
  must(node.publish("a"));
  REQUIRE(heard.wait([](int count) { return count == 1; }));
  CHECK(registration.unregister());
  CHECK_FALSE(registration.unregister());
  CHECK(must(node.publish("a")).destinations == 0);
  CHECK(heard.get() == 1);
}

TEST_CASE("a registration that is kept outlives its handle, another does not") {
  auto node = must(Node::open());
  {
    auto kept = must(node.on("kept", [](const Event&) {}));
    kept.keep();
    const auto dropped = must(node.on("dropped", [](const Event&) {}));
    CHECK(node.match_count("dropped") == 1);
  }
  CHECK(node.match_count("kept") == 1);
  CHECK(node.match_count("dropped") == 0);
}

TEST_CASE("a callback may publish and add jobs") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  Slot<std::vector<std::string>> heard;
  const auto second = must(node.on("second", [&](const Event& event) {
    heard.change([&](auto& all) { all.emplace_back(event.payload); });
  }));
  const auto first = must(node.on("first", [&](const Event&) {
    const auto handle = node.jobs().add(spec("nobody"));
    must(node.publish("second", {}, handle ? handle->id().hex() : handle.error().message));
  }));
  must(node.publish("first"));
  REQUIRE(heard.wait([](const auto& all) { return all.size() == 1; }));
  const auto jobs = must(node.jobs().find({}));
  REQUIRE(jobs.size() == 1);
  CHECK(heard.get().front() == jobs.front().id.hex());
}
