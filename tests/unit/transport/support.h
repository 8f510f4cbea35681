// What the tests of sockets share: a Transport with an inbox, and waiting for a condition with a
// deadline.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace headrace::transport::test {

inline constexpr std::chrono::seconds kDeadline{20};

struct Mail {
  Lane lane;
  RoutingId from;
  Frame frame;
};

class Inbox final : public TransportEvents {
 public:
  void on_frame(Lane lane, const RoutingId& from, Frame frame) override {
    mail.push_back({lane, from, std::move(frame)});
  }
  void on_room(LinkId link, Lane lane) override { room.emplace_back(link, lane); }
  void on_ended(const NodeId& node) override { ended.push_back(node); }
  void on_readable(int fd) override { readable.push_back(fd); }

  std::vector<Mail> mail;
  std::vector<std::pair<LinkId, Lane>> room;
  std::vector<NodeId> ended;
  std::vector<int> readable;
};

inline NodeId node_id(std::uint64_t n) { return NodeId::from_halves(0xabcd, n); }

inline Transport open_node(std::uint64_t n, std::uint16_t port = 0, std::size_t max_dealers = 64) {
  auto opened = Transport::open({.node = node_id(n),
                                 .listen = Endpoint{"127.0.0.1", port},
                                 .max_control = max_dealers,
                                 .max_data = max_dealers});
  INFO((opened ? std::string() : opened.error().message));
  REQUIRE(opened.has_value());
  return std::move(*opened);
}

inline LinkId link_to(Transport& from, const Transport& to) {
  return from.open_link(to.control_endpoint(), to.data_endpoint()).value();
}

// Turns `node` until the condition holds; false after the deadline.
template <typename Condition>
bool turn_until(Transport& node, Inbox& inbox, Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    node.poll(Millis{20}, inbox);
  }
  return true;
}

}  // namespace headrace::transport::test
