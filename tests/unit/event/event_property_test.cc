// Router and registrations against the rules taken word for word, over random clusters.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "core/base/random.h"
#include "tests/unit/event/cluster.h"

using namespace headrace;
using test::Cluster;

namespace {

struct Known {
  std::size_t node;
  std::string pattern;
  bool sink;
};
using Model = std::map<RegistrationId, Known>;

// How specific a registration is for a topic; nothing if it is not on the walk.
std::optional<int> level(const std::string& pattern, const std::string& topic) {
  const auto words = [](const std::string& text) {
    return 1 + static_cast<int>(std::count(text.begin(), text.end(), '.'));
  };
  const bool system = topic == "$sys" || topic.starts_with("$sys.");
  if (pattern == "*") return system ? std::nullopt : std::optional(0);
  if (TopicPattern::parse(pattern)->matches(topic)) return words(topic);
  if (topic.starts_with(pattern + ".")) return words(pattern);
  return {};
}

std::set<RegistrationId> obviously_offered(const Model& model, const std::string& topic) {
  int delivered = -1;
  for (const auto& [id, known] : model)
    delivered = std::max(delivered, level(known.pattern, topic).value_or(-1));
  std::set<RegistrationId> offered;
  for (const auto& [id, known] : model) {
    const auto at = level(known.pattern, topic);
    if (at && (*at == delivered || known.sink)) offered.insert(id);
  }
  return offered;
}

std::string random_name(Random& random, bool pattern) {
  static constexpr const char* kWords[] = {"a", "b", "c", "$sys", "*"};
  if (pattern && random.chance(0.1)) return "*";
  std::string text;
  for (auto n = 1 + random.below(4); n > 0; --n) {
    if (!text.empty()) text += ".";
    text += kWords[random.below(pattern ? 5 : 4)];
  }
  if (pattern && random.chance(0.15)) text += ".>";
  return text;
}

}  // namespace

TEST_CASE("whoever publishes, exactly those are offered the event that the rules name") {
  Random random(5);
  std::size_t offers = 0;
  for (int round = 0; round < 60; ++round) {
    Cluster cluster(1 + random.below(5));
    Model model;
    for (int step = 0; step < 60; ++step) {
      if (!model.empty() && random.chance(0.4)) {
        const auto at = std::next(model.begin(), static_cast<long>(random.below(model.size())));
        cluster.remove(at->second.node, at->first);
        model.erase(at);
      } else {
        const Known known{random.below(cluster.size()), random_name(random, true),
                          random.chance(0.3)};
        model.emplace(cluster.add(known.node, known.pattern, known.sink), known);
      }
      cluster.converge();
      for (int i = 0; i < 4; ++i) {
        const auto topic = random_name(random, false);
        const auto expected = obviously_offered(model, topic);
        CAPTURE(round, step, topic);
        REQUIRE(cluster.publish(random.below(cluster.size()), topic) == expected);
        offers += expected.size();
      }
    }
  }
  CHECK(offers > 1000);
}

TEST_CASE("telling the changes one by one comes to the same as the whole advert") {
  Random random(6);
  for (int round = 0; round < 20; ++round) {
    LocalRegistrations local;
    EventRouter by_change(test::node_id(0));
    std::vector<RegistrationId> held;
    for (RegistrationId id = 1; id <= 200; ++id) {
      LocalRegistrations::Changed changed;
      if (!held.empty() && random.chance(0.45)) {
        const auto at = held.begin() + static_cast<long>(random.below(held.size()));
        changed = local.remove(*at).value();
        held.erase(at);
      } else {
        const auto pattern = TopicPattern::parse(random_name(random, true)).value();
        changed = local.add({id, pattern, random.chance(0.5)}).value();
        held.push_back(id);
      }
      if (changed) REQUIRE(by_change.set_interest(test::node_id(1), *changed));
    }
    EventRouter by_advert(test::node_id(0));
    REQUIRE(by_advert.set_advert(test::node_id(1), local.advert()));
    for (int i = 0; i < 200; ++i) {
      const auto topic = random_name(random, false);
      CAPTURE(topic);
      REQUIRE(**by_change.route(topic) == **by_advert.route(topic));
    }
  }
}
