// A cluster of registrations without a network: each node has its own and a router over everybody's
// adverts.
#pragma once

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/event/event_router.h"
#include "core/event/local_registrations.h"

namespace headrace::test {

inline NodeId node_id(std::size_t i) { return NodeId::from_halves(7, i + 1); }

class Cluster {
 public:
  explicit Cluster(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i)
      nodes_.push_back({LocalRegistrations(), EventRouter(node_id(i))});
  }

  std::size_t size() const { return nodes_.size(); }
  LocalRegistrations& local(std::size_t node) { return nodes_[node].local; }
  EventRouter& router(std::size_t node) { return nodes_[node].router; }

  RegistrationId add(std::size_t node, const std::string& pattern, bool sink) {
    const auto id = next_++;
    REQUIRE(local(node).add({id, TopicPattern::parse(pattern).value(), sink}));
    return id;
  }
  void remove(std::size_t node, RegistrationId id) { REQUIRE(local(node).remove(id)); }

  // Lets every node hear every advert.
  void converge() {
    for (auto& node : nodes_) {
      for (std::size_t i = 0; i < size(); ++i)
        REQUIRE(node.router.set_advert(node_id(i), local(i).advert()));
    }
  }

  // Who is offered an event that node `from` publishes, anywhere.
  std::set<RegistrationId> publish(std::size_t from, const std::string& topic) {
    const Route route = *router(from).route(topic).value();
    std::set<RegistrationId> offered;
    const auto deliver = [&](std::size_t node) {
      const auto ids = local(node).offered(topic, route.depth).value();
      offered.insert(ids.begin(), ids.end());
    };
    if (route.local) deliver(from);
    for (const auto remote : route.remotes) {
      REQUIRE(remote != node_id(from));
      deliver(remote.low() - 1);
    }
    return offered;
  }

 private:
  struct Node {
    LocalRegistrations local;
    EventRouter router;
  };
  std::vector<Node> nodes_;
  RegistrationId next_ = 1;
};

}  // namespace headrace::test
