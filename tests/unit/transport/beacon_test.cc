#include "transport/beacon.h"

#include <poll.h>

#include "core/wire/beacon.h"
#include "tests/unit/transport/held_port.h"
#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;
using headrace::test::HeldPort;

namespace {

std::uint16_t free_port() { return HeldPort().port; }

Beacon open(std::uint16_t port, BeaconReach reach = BeaconReach::kLoopback) {
  auto opened = Beacon::open(port, reach);
  INFO((opened ? std::string() : opened.error().message));
  REQUIRE(opened);
  return std::move(*opened);
}

// The next datagram; fails the test if none comes.
Beacon::Datagram next(Beacon& beacon) {
  pollfd wait{beacon.fd(), POLLIN, 0};
  REQUIRE(::poll(&wait, 1, 20'000) == 1);
  auto datagram = beacon.take();
  REQUIRE(datagram);
  return std::move(*datagram);
}

}  // namespace

TEST_CASE("all beacons at one port of this machine hear each other, and themselves") {
  const auto port = free_port();
  auto a = open(port);
  auto b = open(port);
  auto c = open(port);
  a.send("from a");
  for (auto* beacon : {&a, &b, &c}) {
    const auto got = next(*beacon);
    CHECK(got.bytes == "from a");
    CHECK(got.source == "127.0.0.1");
  }
  CHECK(a.stats().sent >= 1);
  CHECK(a.stats().unsent == 0);
}

TEST_CASE("multicast and broadcast each carry a beacon over loopback") {
  const auto port = free_port();
  auto a = open(port);
  auto b = open(port);
  a.send("twice");
  CHECK(a.stats().sent == 2);
  CHECK(next(b).bytes == "twice");
  CHECK(next(b).bytes == "twice");
  CHECK_FALSE(b.take());
}

TEST_CASE("beacons at different ports do not hear each other") {
  const HeldPort first;
  const auto other = free_port();
  REQUIRE(first.port != other);
  auto a = open(other);
  auto b = open(free_port());
  a.send("x");
  CHECK(next(a).bytes == "x");
  CHECK_FALSE(b.take());
}

TEST_CASE("a beacon of the LAN takes nothing from loopback, and says nothing there") {
  const auto port = free_port();
  auto here = open(port);
  auto lan = open(port, BeaconReach::kLan);
  for (const auto& interface : lan.reached()) CHECK_FALSE(interface.loopback);
  here.send("x");
  CHECK(next(here).bytes == "x");
  CHECK_FALSE(lan.take());
  CHECK(lan.stats().strangers > 0);  // the broadcast, which comes to whoever has the port
  next(here);
  lan.send("y");
  CHECK_FALSE(here.take());
}

TEST_CASE("interfaces are read anew without harm to those that stay") {
  auto beacon = open(free_port());
  const auto before = beacon.reached();
  REQUIRE_FALSE(before.empty());
  beacon.look_around();
  CHECK(beacon.reached() == before);
  beacon.send("x");
  CHECK(next(beacon).bytes == "x");
}

TEST_CASE("a port that a program keeps to itself is refused with its number") {
  const HeldPort holder;
  const auto beacon = Beacon::open(holder.port, BeaconReach::kLoopback);
  REQUIRE_FALSE(beacon);
  CHECK(beacon.error().code == Code::kInUse);
  CHECK(beacon.error().message.find(std::to_string(holder.port)) != std::string::npos);
}

TEST_CASE("a datagram that is too large comes cut, so that it is no beacon") {
  auto beacon = open(free_port());
  beacon.send(Bytes(60'000, 'x'));
  CHECK(next(beacon).bytes.size() == wire::kBeaconBytes + 1);
}
