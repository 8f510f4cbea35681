#include "nodes/runtime/links.h"

#include <netdb.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/wire/codec.h"
#include "nodes/runtime/clock.h"
#include "tests/unit/nodes/support.h"

using namespace headrace;
using headrace::runtime::Links;
using transport::Transport;
using wire::Lane;

namespace {

NodeId node(std::uint64_t number) { return NodeId::from_halves(number, number); }

// [kind, bytes]
Bytes message(std::size_t size, char fill = 'x') {
  Bytes out;
  wire::Writer(out).array(2).u64(250).bin(Bytes(size, fill));
  return out;
}

struct Received {
  wire::FrameHead head;
  std::vector<Bytes> messages;
  Lane lane;
};

struct End : transport::TransportEvents {
  explicit End(std::uint64_t number, const char* host = "127.0.0.1")
      : transport(*Transport::open({.node = node(number), .listen = {host, 0}})),
        links(transport, {.cluster = 9, .node = node(number), .incarnation = 100 + number}) {}

  void on_frame(Lane lane, const transport::RoutingId&, transport::Frame frame) override {
    wire::FrameReader reader(frame.bytes());
    Received got{reader.head(), {}, lane};
    while (const auto next = reader.next()) got.messages.emplace_back(*next);
    received.push_back(std::move(got));
  }
  void on_room(transport::LinkId link, Lane lane) override { links.on_room(link, lane); }

  Reach reach(std::uint64_t number, Incarnation incarnation) const {
    return {node(number), incarnation, transport.control_endpoint().text(),
            transport.data_endpoint().text()};
  }
  void turn() {
    transport.poll(Millis{10}, *this);
    std::vector<Bytes> gone;
    links.flush(gone);
  }
  std::size_t messages() const {
    std::size_t count = 0;
    for (const auto& frame : received) count += frame.messages.size();
    return count;
  }

  Transport transport;
  Links links;
  std::vector<Received> received;
};

bool localhost_has_ipv6() {
  addrinfo wanted{};
  wanted.ai_family = AF_INET6;
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, &wanted, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

template <typename Condition>
bool turn_until(End& a, End& b, Condition condition) {
  return test::eventually([&] {
    a.turn();
    b.turn();
    return condition();
  });
}

}  // namespace

TEST_CASE("messages of a turn travel in one frame that names both ends") {
  End a(1);
  End b(2);
  REQUIRE(a.links.reach(b.reach(2, 102)));
  a.links.append(node(2), Lane::kControl, message(5, 'a'));
  a.links.append(node(2), Lane::kControl, message(5, 'b'));
  REQUIRE(turn_until(a, b, [&] { return !b.received.empty(); }));
  const auto& got = b.received.front();
  CHECK(got.lane == Lane::kControl);
  CHECK(got.head == wire::FrameHead{1, 9, node(1), 101, node(2), 102});
  CHECK(got.messages == std::vector<Bytes>{message(5, 'a'), message(5, 'b')});
  CHECK(a.links.idle());
}

TEST_CASE("a frame closes at its size, and order is kept over many") {
  End a(1);
  End b(2);
  REQUIRE(a.links.reach(b.reach(2, 102)));
  std::vector<Bytes> sent;
  for (int i = 0; i < 100; ++i) {
    sent.push_back(message(10'000, static_cast<char>('0' + i % 10)));
    a.links.append(node(2), Lane::kData, sent.back());
  }
  REQUIRE(turn_until(a, b, [&] { return b.messages() == 100; }));
  std::vector<Bytes> got;
  for (const auto& frame : b.received) {
    CHECK(frame.messages.size() <= 7);
    got.insert(got.end(), frame.messages.begin(), frame.messages.end());
  }
  CHECK(got == sent);
}

TEST_CASE("another incarnation is another process: what waited for the old one does not reach it") {
  End a(1);
  End b(2);
  REQUIRE(a.links.reach(b.reach(2, 102)));
  a.links.append(node(2), Lane::kControl, message(1, 'o'));
  REQUIRE(a.links.reach(b.reach(2, 103)));
  a.links.append(node(2), Lane::kControl, message(1, 'n'));
  REQUIRE(turn_until(a, b, [&] { return !b.received.empty(); }));
  CHECK(b.received.front().head.receiver_incarnation == 103);
  CHECK(b.received.front().messages == std::vector<Bytes>{message(1, 'n')});
  CHECK(a.links.stats().dropped_frames == 1);
}

TEST_CASE("a message to an address names no receiver") {
  End a(1);
  End b(2);
  a.links.append_endpoint(b.transport.control_endpoint().text(), message(1), runtime::mono_now());
  REQUIRE(turn_until(a, b, [&] { return !b.received.empty(); }));
  CHECK(b.received.front().head.receiver.is_zero());
  CHECK(b.received.front().head.receiver_incarnation == 0);
}

TEST_CASE("a message to a name reaches whoever listens at its IPv4 or at its IPv6 address") {
  for (const char* host : {"127.0.0.1", "::1"}) {
    CAPTURE(host);
    if (host == std::string_view("::1") && !localhost_has_ipv6()) continue;
    End a(1);
    End b(2, host);
    const auto name = "tcp://localhost:" + std::to_string(b.transport.control_endpoint().port);
    a.links.append_endpoint(name, message(1), runtime::mono_now());
    CHECK(turn_until(a, b, [&] { return !b.received.empty(); }));
  }
}

TEST_CASE("what is for nobody or too large for a frame is counted and dropped") {
  End a(1);
  End b(2);
  a.links.append(node(2), Lane::kData, message(1));
  CHECK(a.links.stats().dropped_messages == 1);
  REQUIRE(a.links.reach(b.reach(2, 102)));
  a.links.append(node(2), Lane::kData, message(wire::kMessageBytes));
  CHECK(a.links.stats().dropped_messages == 2);
  CHECK(a.links.idle());
  Bytes frame = "whole";
  CHECK(a.links.emit(node(3), frame));
  CHECK(a.links.stats().dropped_frames == 1);
}

TEST_CASE("what waits for one node is bounded: its oldest frames give way to the newest") {
  End a(1);
  End b(2);
  REQUIRE(a.links.reach(b.reach(2, 102)));
  const auto large = message(1 << 20);
  const auto many = limits::kLinkBytes / large.size() + 10;
  for (std::size_t i = 0; i < many; ++i) a.links.append(node(2), Lane::kData, large);
  const auto stats = a.links.stats();
  CHECK(stats.waiting_bytes <= limits::kLinkBytes);
  CHECK(stats.waiting_bytes > limits::kLinkBytes - 3 * large.size());
  CHECK(stats.dropped_frames > 0);
}

TEST_CASE("of many nodes the one for which most waits makes room") {
  End a(1);
  End b(2);
  const auto large = message(1 << 20);
  for (std::uint64_t number = 2; number <= 4; ++number) REQUIRE(a.links.reach(b.reach(number, 1)));
  const auto fill = [&](std::uint64_t number, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a.links.append(node(number), Lane::kData, large);
  };
  fill(2, 60);
  fill(3, 50);
  CHECK(a.links.stats().dropped_frames == 0);
  fill(4, 20);
  const auto stats = a.links.stats();
  CHECK(stats.waiting_bytes <= limits::kLinksBytes);
  CHECK(stats.dropped_frames >= 2);
  CHECK(stats.dropped_frames <= 4);
  a.links.unreach(node(4));
  CHECK(a.links.stats().waiting_bytes > 100 * large.size());  // all of 4's twenty had stayed
}
