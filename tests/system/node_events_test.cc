// Events between whole nodes.
#include <algorithm>
#include <optional>
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

TEST_CASE("a node tells its own program, and nobody else's, what becomes of the others") {
  auto first = must(Node::open({.name = "first"}));
  Slot<std::vector<std::string>> heard;
  const auto registration = must(first.on("$sys.member.>", [&](const Event& event) {
    const auto line = std::string(event.node == first.id() ? "" : "of another: ") +
                      std::string(event.topic.substr(12)) + " " +
                      event.params.get<std::string>("name").value_or("?") + " " +
                      event.params.get<std::string>("state").value_or("?");
    heard.change([&](auto& all) { all.push_back(line); });
  }));
  const auto hears = [&](const std::string& line) {
    return heard.wait(
        [&](const auto& all) { return std::find(all.begin(), all.end(), line) != all.end(); });
  };
  auto second = must(Node::open({.name = "second", .join = {first.endpoint()}}));
  CHECK(hears("alive second alive"));
  const auto consumer = must(second.consume("a", [](RunningJob&) { return JobOutcome::ok(); }));
  CHECK(hears("advert second alive"));

  // Both nodes have now a registration in $sys; what `second` sees stays its own.
  Slot<int> strange;
  const auto other = must(second.on("$sys.>", [&](const Event& event) {
    if (event.node != second.id()) strange.change([](int& count) { ++count; });
  }));
  auto third = must(Node::open({.name = "third", .join = {first.endpoint()}}));
  CHECK(hears("alive third alive"));
  must(third.wait_ready(kLong));
  const auto second_sees = [&](const std::string& state) {
    return eventually([&] {
      const auto members = second.members();
      return std::any_of(members.begin(), members.end(), [&](const Member& member) {
        return member.name == "third" && member.state == state;
      });
    });
  };
  REQUIRE(second_sees("alive"));
  must(third.close());
  CHECK(hears("left third left"));
  REQUIRE(second_sees("left"));
  CHECK(strange.get() == 0);
  CHECK(first.publish("$sys.member.dead").error().code == Code::kForbidden);
}

TEST_CASE("a node knows where its members take data, since when they live, how far they are") {
  auto first = must(Node::open());
  auto second = must(Node::open({.join = {first.endpoint()}}));
  const auto row = [&]() -> std::optional<Member> {
    for (auto& member : first.members()) {
      if (member.id == second.id()) return std::move(member);
    }
    return {};
  };
  REQUIRE(eventually([&] { return row() && row()->round_trip; }));
  const auto member = *row();
  CHECK(member.round_trip->count() > 0);
  CHECK(*member.round_trip < std::chrono::seconds(1));
  CHECK(member.data_endpoint.starts_with("tcp://127.0.0.1:"));
  CHECK(member.data_endpoint != member.endpoint);
  const auto age = std::chrono::system_clock::now() - member.since;
  CHECK(age > Millis{0});
  CHECK(age < std::chrono::minutes(1));
  CHECK_FALSE(first.members().front().round_trip);
}
