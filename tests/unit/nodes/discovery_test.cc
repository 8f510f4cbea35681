#include "nodes/runtime/discovery.h"

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "tests/unit/nodes/support.h"
#include "tests/unit/transport/held_port.h"

using namespace headrace;
using headrace::runtime::Discovery;
using headrace::runtime::DiscoveryOptions;
using headrace::test::HeldPort;
using transport::Beacon;
using transport::BeaconReach;

namespace {

const MonoTime kStart{std::chrono::hours(1)};

wire::BeaconPacket packet(std::uint64_t node, std::uint64_t cluster = 9) {
  return {cluster, NodeId::from_halves(node, node), Bytes(32, 'k'), "127.0.0.1",
          static_cast<std::uint16_t>(7'000 + node)};
}

Bytes encoded(const wire::BeaconPacket& packet) {
  Bytes bytes;
  encode(bytes, packet);
  return bytes;
}

struct One {
  One(std::uint64_t node, std::uint16_t port, std::uint64_t cluster = 9)
      : discovery({packet(node, cluster), port, BeaconReach::kLoopback},
                  {[this](const NodeId& id, const std::string& at) { heard.emplace_back(id, at); },
                   [this](const NodeId& id) { refused.push_back(id); },
                   [this](const std::string& text) { notes.push_back(text); }},
                  node) {}

  void tick(MonoTime now, std::size_t live = 1) {
    discovery.ready();
    discovery.tick(now, live);
  }

  std::vector<std::pair<NodeId, std::string>> heard;
  std::vector<NodeId> refused;
  std::vector<std::string> notes;
  Discovery discovery;
};

}  // namespace

TEST_CASE("nodes of one cluster hear where the others are, and nothing of another's") {
  const auto port = HeldPort(SOCK_DGRAM).port;
  One a(1, port);
  One b(2, port);
  One other(3, port, 10);
  for (auto* one : {&a, &b, &other}) {
    one->discovery.start(kStart);
    one->tick(kStart);
  }
  // a was there before b and the other spoke.
  REQUIRE(test::eventually([&] {
    a.tick(kStart);
    return !a.heard.empty() && a.discovery.stats().others > 0;
  }));
  for (const auto& [node, at] : a.heard) {
    CHECK(node == NodeId::from_halves(2, 2));
    CHECK(at == "tcp://127.0.0.1:7002");
  }
  CHECK(other.heard.empty());
  CHECK(a.discovery.stats().malformed == 0);
}

TEST_CASE("what is no beacon, or names what nobody should dial, is counted and dropped") {
  const auto port = HeldPort(SOCK_DGRAM).port;
  One a(1, port);
  a.discovery.start(kStart);
  a.tick(kStart);
  auto stranger = Beacon::open(port, BeaconReach::kLoopback).value();
  stranger.send("nonsense");
  for (const char* host : {"10.0.0.1", "example.org", "0.0.0.0", "*", "127.0.0.1 "}) {
    auto odd = packet(2);
    odd.host = host;
    stranger.send(encoded(odd));
  }
  auto good = packet(4);
  good.host.clear();  // where it came from
  stranger.send(encoded(good));
  REQUIRE(test::eventually([&] {
    a.tick(kStart);
    return a.heard.size() == 2;  // by multicast and broadcast
  }));
  CHECK(a.heard.front().second == "tcp://127.0.0.1:7004");
  CHECK(a.discovery.stats().malformed == 2 * 6);
}

TEST_CASE("a node speaks each second at first, then seldom, and more seldom among many") {
  One a(1, HeldPort(SOCK_DGRAM).port);
  a.discovery.start(kStart);
  MonoTime now = kStart;
  const auto pause = [&](std::size_t live) {
    a.discovery.tick(now, live);
    // It also looks at its interfaces now and then; only the beacon is of interest.
    auto next = a.discovery.next();
    const auto before = now;
    for (auto sent = a.discovery.said(); a.discovery.said() == sent; next = a.discovery.next()) {
      now = next;
      a.discovery.tick(now, live);
    }
    return std::chrono::duration<double>(now - before).count();
  };
  for (int i = 0; i < 3; ++i) {
    const auto seconds = pause(1);
    CHECK((seconds >= 0.75 && seconds <= 1.25));
  }
  for (int i = 0; i < 20; ++i) {
    const auto seconds = pause(1);
    CHECK((seconds >= 3.75 && seconds <= 6.25));
  }
  pause(1'000);
  for (int i = 0; i < 20; ++i) {
    const auto seconds = pause(1'000);
    CHECK((seconds >= 37.5 && seconds <= 62.5));
  }
}

TEST_CASE("a flood of beacons is heard at a bounded rate") {
  const auto port = HeldPort(SOCK_DGRAM).port;
  One a(1, port);
  a.discovery.start(kStart);
  a.tick(kStart);
  auto flood = Beacon::open(port, BeaconReach::kLoopback).value();
  const auto bytes = encoded(packet(2));
  for (int i = 0; i < 500; ++i) flood.send(bytes);
  REQUIRE(test::eventually([&] {
    a.tick(kStart);
    return a.heard.size() >= 190;
  }));
  a.tick(kStart);
  CHECK(a.heard.size() <= 200);
  CHECK(a.discovery.fds()[1] == -1);  // does not even wait for more
  CHECK(a.discovery.next() == kStart + Millis{100});
  const auto before = a.heard.size();
  a.tick(kStart + Millis{100});
  CHECK(a.heard.size() > before);
  CHECK(a.heard.size() <= before + 20);
}

TEST_CASE("a beacon that can't be opened is noted once and tried again") {
  auto held = std::make_unique<HeldPort>(SOCK_DGRAM);
  One a(1, held->port);
  One b(2, held->port);
  a.discovery.start(kStart);
  MonoTime now = kStart;
  for (int i = 0; i < 3; ++i) {
    a.tick(now);
    REQUIRE(a.discovery.next() > now);
    now = a.discovery.next();
  }
  CHECK(a.notes.size() == 1);
  held.reset();
  a.tick(now);
  b.discovery.start(now);
  b.tick(now);
  CHECK(test::eventually([&] {
    a.tick(now);
    return !a.heard.empty();
  }));
}

TEST_CASE("without a port nothing is said or heard, and gone nodes are found all the same") {
  One a(1, 0);
  a.discovery.start(kStart);
  CHECK(a.discovery.next() == kNever);
  CHECK(a.discovery.fds() == std::array{-1, -1});
  const auto nobody = "tcp://127.0.0.1:" + std::to_string(HeldPort(SOCK_STREAM).port);
  a.discovery.ended(NodeId::from_halves(2, 2), nobody, kStart);
  CHECK(test::eventually([&] {
    a.tick(kStart);
    return a.refused == std::vector{NodeId::from_halves(2, 2)};
  }));
  a.discovery.ended(NodeId::from_halves(2, 2), "no endpoint", kStart);
  CHECK(a.discovery.next() == kNever);
}
