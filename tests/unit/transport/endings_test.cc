// Whose connection has ended, and other descriptors that a node waits for.
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

namespace {

void send_until_there(Transport& from, LinkId link, Lane lane, Transport& to, Inbox& inbox) {
  const auto before = inbox.mail.size();
  Bytes frame = "x";
  REQUIRE(from.send(link, lane, frame) == Sent::kQueued);
  REQUIRE(turn_until(to, inbox, [&] { return inbox.mail.size() > before; }));
}

}  // namespace

TEST_CASE("a node is told whose control connection has ended, each time") {
  auto node = open_node(1);
  auto left = std::make_unique<Transport>(open_node(2));
  auto right = open_node(3);
  Inbox inbox;
  send_until_there(*left, link_to(*left, node), Lane::kControl, node, inbox);
  const auto link = link_to(right, node);
  send_until_there(right, link, Lane::kControl, node, inbox);
  CHECK(inbox.ended.empty());
  left.reset();
  REQUIRE(turn_until(node, inbox, [&] { return !inbox.ended.empty(); }));
  CHECK(inbox.ended == std::vector{node_id(2)});
  right.close_link(link);
  REQUIRE(turn_until(node, inbox, [&] { return inbox.ended.size() == 2; }));
  CHECK(inbox.ended.back() == node_id(3));
  send_until_there(right, link_to(right, node), Lane::kControl, node, inbox);
  right.close(Millis{0});
  REQUIRE(turn_until(node, inbox, [&] { return inbox.ended.size() == 3; }));
  CHECK(inbox.ended.back() == node_id(3));
}

TEST_CASE("a data connection that ends says nothing of its node") {
  auto node = open_node(1);
  auto other = open_node(2);
  Inbox inbox;
  const auto data = link_to(other, node);
  send_until_there(other, data, Lane::kData, node, inbox);
  const auto control = link_to(other, node);
  send_until_there(other, control, Lane::kControl, node, inbox);
  other.close_link(data);
  other.close_link(control);
  REQUIRE(turn_until(node, inbox, [&] { return !inbox.ended.empty(); }));
  CHECK(inbox.ended.size() == 1);
}

TEST_CASE("a wait ends when a watched descriptor is readable, until another is watched") {
  auto node = open_node(1);
  Inbox inbox;
  const int fd = ::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  node.watch(std::array{-1, fd});
  node.poll(kDeadline, inbox);
  CHECK(inbox.readable == std::vector{fd});
  node.watch({});
  node.poll(Nanos{0}, inbox);
  CHECK(inbox.readable.size() == 1);
  ::close(fd);
}

TEST_CASE("what is sent and received is counted for whoever looks on") {
  const auto traffic = std::make_shared<Traffic>();
  auto opened =
      Transport::open({.node = node_id(1), .listen = {"127.0.0.1", 0}, .traffic = traffic});
  REQUIRE(opened);
  auto other = open_node(2);
  Inbox inbox;
  Bytes frame(5'000, 'x');
  REQUIRE(opened->send(link_to(*opened, other), Lane::kData, frame) == Sent::kQueued);
  CHECK(traffic->sent_frames == 1);
  CHECK(traffic->sent_bytes == 5'000);
  frame = "four";
  REQUIRE(other.send(link_to(other, *opened), Lane::kControl, frame) == Sent::kQueued);
  REQUIRE(turn_until(*opened, inbox, [&] { return !inbox.mail.empty(); }));
  CHECK(traffic->received_frames == 1);
  CHECK(traffic->received_bytes == 4);
}
