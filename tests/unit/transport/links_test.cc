// Links to peers: both ways at once, full lanes, closing, the cap on DEALERs.
#include <set>
#include <zmq.hpp>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

TEST_CASE("two nodes that dial each other at once both deliver, a thousand times over") {
  auto a = open_node(1);
  auto b = open_node(2);
  Inbox to_a;
  Inbox to_b;
  constexpr std::size_t kRounds = 1'000;
  std::size_t lost = 0;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const auto ab = link_to(a, b);
    const auto ba = link_to(b, a);
    const Bytes text = std::to_string(round);
    const auto lane = round % 2 == 0 ? Lane::kControl : Lane::kData;
    Bytes one = text;
    Bytes two = text;
    REQUIRE(a.send(ab, lane, one) == Sent::kQueued);
    REQUIRE(b.send(ba, lane, two) == Sent::kQueued);
    const auto came = [&](const Inbox& inbox) {
      return !inbox.mail.empty() && inbox.mail.back().frame.bytes() == text;
    };
    if (!turn_until(b, to_b, [&] { return came(to_b); })) ++lost;
    if (!turn_until(a, to_a, [&] { return came(to_a); })) ++lost;
    a.close_link(ab);
    b.close_link(ba);
  }
  CHECK(lost == 0);
  CHECK(to_a.mail.size() == kRounds);
  CHECK(to_b.mail.size() == kRounds);
}

TEST_CASE("thousands of frames cross both ways between two nodes, each in order") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto ab = link_to(a, b);
  const auto ba = link_to(b, a);
  constexpr std::size_t kFrames = 5'000;
  Inbox to_a;
  Inbox to_b;
  std::size_t from_a = 0;
  std::size_t from_b = 0;
  const auto push = [&](Transport& node, LinkId link, std::size_t& next) {
    while (next < kFrames) {
      Bytes frame = std::to_string(next);
      if (node.send(link, Lane::kData, frame) != Sent::kQueued) return;
      ++next;
    }
  };
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while ((to_a.mail.size() < kFrames || to_b.mail.size() < kFrames) &&
         std::chrono::steady_clock::now() < end) {
    push(a, ab, from_a);
    push(b, ba, from_b);
    a.poll(Millis{1}, to_a);
    b.poll(Millis{1}, to_b);
  }
  REQUIRE(to_a.mail.size() == kFrames);
  REQUIRE(to_b.mail.size() == kFrames);
  for (std::size_t i = 0; i < kFrames; ++i) {
    CHECK(to_a.mail[i].frame.bytes() == std::to_string(i));
    CHECK(to_b.mail[i].frame.bytes() == std::to_string(i));
  }
}

TEST_CASE("a full lane leaves the frame untouched, is full until told, and then takes more") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  Inbox to_a;
  Inbox to_b;
  const Bytes big(limits::kBatchBytes, 'b');
  std::size_t queued = 0;
  Bytes frame = big;
  while (a.send(link, Lane::kData, frame) == Sent::kQueued) {
    frame = big;
    REQUIRE(++queued < 10'000);
  }
  CHECK(frame == big);
  CHECK(a.send(link, Lane::kData, frame) == Sent::kFull);
  CHECK(frame == big);
  // The other lane does not care.
  Bytes small = "ping";
  CHECK(a.send(link, Lane::kControl, small) == Sent::kQueued);
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (to_a.room.empty() && std::chrono::steady_clock::now() < end) {
    b.poll(Millis{1}, to_b);
    a.poll(Millis{1}, to_a);
  }
  REQUIRE(to_a.room == std::vector{std::pair(link, Lane::kData)});
  CHECK(a.send(link, Lane::kData, frame) == Sent::kQueued);
  CHECK(turn_until(b, to_b, [&] { return to_b.mail.size() == queued + 2; }));
}

TEST_CASE("a lane to a peer that is not there fills up and no more") {
  auto a = open_node(1);
  std::uint16_t port = 0;
  {
    auto gone = open_node(2);
    port = gone.control_endpoint().port;
  }
  const auto link = a.open_link(Endpoint{"127.0.0.1", port}).value();
  std::size_t queued = 0;
  for (Bytes frame = "x"; a.send(link, Lane::kControl, frame) == Sent::kQueued; frame = "x") {
    REQUIRE(++queued <= limits::kControlFrames);
  }
  CHECK(queued > 0);
}

TEST_CASE("a closed link takes nothing, and closing it again is fine") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  Bytes frame = "x";
  REQUIRE(a.send(link, Lane::kControl, frame) == Sent::kQueued);
  CHECK(a.stats().dealers == 1);
  a.close_link(link);
  CHECK(a.stats().dealers == 0);
  frame = "y";
  CHECK(a.send(link, Lane::kControl, frame) == Sent::kClosed);
  CHECK(frame == "y");
  a.close_link(link);
  CHECK(a.set_data_endpoint(link, b.data_endpoint()).error().code == Code::kNotFound);
  CHECK(link_to(a, b) != link);
}

TEST_CASE("data waits for its endpoint to be told, and follows it when it changes") {
  auto a = open_node(1);
  auto b = open_node(2);
  auto c = open_node(3);
  const auto link = a.open_link(b.control_endpoint()).value();
  Inbox inbox;
  Bytes frame = "to b";
  CHECK(a.send(link, Lane::kData, frame) == Sent::kClosed);
  REQUIRE(a.set_data_endpoint(link, b.data_endpoint()));
  REQUIRE(a.send(link, Lane::kData, frame) == Sent::kQueued);
  REQUIRE(turn_until(b, inbox, [&] { return inbox.mail.size() == 1; }));
  REQUIRE(a.set_data_endpoint(link, c.data_endpoint()));
  frame = "to c";
  REQUIRE(a.send(link, Lane::kData, frame) == Sent::kQueued);
  REQUIRE(turn_until(c, inbox, [&] { return inbox.mail.size() == 2; }));
  CHECK(inbox.mail[1].frame.bytes() == "to c");
}

TEST_CASE("what can't be dialled is refused before anything is opened") {
  auto a = open_node(1);
  CHECK(a.open_link(Endpoint{"*", 7420}).error().code == Code::kInvalid);
  CHECK(a.open_link(Endpoint{"127.0.0.1", 0}).error().code == Code::kInvalid);
  CHECK(a.open_link(Endpoint{"127.0.0.1", 1}, Endpoint{"::", 1}).error().code == Code::kInvalid);
  const auto link = a.open_link(Endpoint{"127.0.0.1", 1}).value();
  CHECK(a.set_data_endpoint(link, Endpoint{"127.0.0.1", 0}).error().code == Code::kInvalid);
}

TEST_CASE("over the cap the least recently used DEALER is closed, its mail still leaves") {
  auto a = open_node(1, 0, 2);
  auto b = open_node(2);
  auto c = open_node(3);
  auto d = open_node(4);
  Inbox sender;
  const auto send = [&](LinkId link, Bytes frame) {
    a.poll(Millis{1}, sender);  // time passes
    return a.send(link, Lane::kControl, frame);
  };
  const auto ab = link_to(a, b);
  const auto ac = link_to(a, c);
  const auto ad = link_to(a, d);
  REQUIRE(send(ab, "1") == Sent::kQueued);
  REQUIRE(send(ac, "1") == Sent::kQueued);
  REQUIRE(send(ab, "2") == Sent::kQueued);
  REQUIRE(send(ad, "1") == Sent::kQueued);  // c's goes
  CHECK(a.stats().evicted == 1);
  CHECK(a.stats().dealers == 2);
  REQUIRE(send(ab, "3") == Sent::kQueued);
  CHECK(a.stats().evicted == 1);
  Inbox to_c;
  REQUIRE(turn_until(c, to_c, [&] { return to_c.mail.size() == 1; }));
  REQUIRE(send(ac, "2") == Sent::kQueued);  // dialled anew; d's goes
  CHECK(a.stats().evicted == 2);
  REQUIRE(turn_until(c, to_c, [&] { return to_c.mail.size() == 2; }));
  Inbox to_b;
  CHECK(turn_until(b, to_b, [&] { return to_b.mail.size() == 3; }));
}

TEST_CASE("a full lane whose DEALER made room for another has room again") {
  auto a = open_node(1, 0, 1);
  auto b = open_node(2);
  const auto silent = a.open_link(Endpoint{"127.0.0.1", 1}).value();
  Bytes frame = "x";
  while (a.send(silent, Lane::kControl, frame) == Sent::kQueued) frame = "x";
  Inbox inbox;
  CHECK_FALSE(a.poll(Nanos{0}, inbox).more);
  CHECK(inbox.room.empty());
  REQUIRE(a.send(link_to(a, b), Lane::kControl, frame) == Sent::kQueued);
  a.poll(kDeadline, inbox);
  CHECK(inbox.room == std::vector{std::pair(silent, Lane::kControl)});
}

TEST_CASE("idle DEALERs are closed, busy ones stay, and a link outlives its DEALER") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  Inbox sender;
  Inbox inbox;
  Bytes frame = "x";
  REQUIRE(a.send(link, Lane::kControl, frame) == Sent::kQueued);
  a.close_idle(std::chrono::hours(1));
  CHECK(a.stats().dealers == 1);
  a.poll(Millis{2}, sender);
  a.close_idle(Millis{1});
  CHECK(a.stats().dealers == 0);
  frame = "y";
  CHECK(a.send(link, Lane::kControl, frame) == Sent::kQueued);
  CHECK(turn_until(b, inbox, [&] { return inbox.mail.size() == 2; }));
}

TEST_CASE("of many control DEALERs those that are silent are closed, down to what is kept") {
  auto opened = Transport::open({.node = node_id(1),
                                 .listen = {"127.0.0.1", 0},
                                 .kept_control = 2,
                                 .spare_after = Millis{20}});
  REQUIRE(opened);
  auto& a = *opened;
  auto b = open_node(2);
  Inbox sender;
  Inbox inbox;
  std::vector<LinkId> links;
  for (int i = 0; i < 5; ++i) {
    links.push_back(link_to(a, b));
    Bytes frame = "x";
    REQUIRE(a.send(links.back(), Lane::kControl, frame) == Sent::kQueued);
    frame = "y";
    REQUIRE(a.send(links.back(), Lane::kData, frame) == Sent::kQueued);
  }
  a.close_idle(std::chrono::hours(1));
  CHECK(a.stats().dealers == 10);  // all are busy
  const auto silent = std::chrono::steady_clock::now() + Millis{25};
  while (std::chrono::steady_clock::now() < silent) a.poll(Millis{5}, sender);
  Bytes frame = "z";
  REQUIRE(a.send(links.front(), Lane::kControl, frame) == Sent::kQueued);
  a.close_idle(std::chrono::hours(1));
  CHECK(a.stats().dealers == 7);
  // The one that spoke last is among those that stayed.
  a.poll(Millis{5}, sender);
  CHECK(a.stats().evicted == 0);
  CHECK(turn_until(b, inbox, [&] { return inbox.mail.size() == 11; }));
}

TEST_CASE("frames in several parts and from strangers are dropped and counted") {
  auto node = open_node(1);
  zmq::context_t context;
  const auto dealer = [&](BytesView id) {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::routing_id, id);
    socket.connect(node.control_endpoint().text());
    return socket;
  };
  auto peer = dealer(RoutingId::peer(node_id(9), 1).raw());
  auto stranger = dealer("stranger");
  stranger.send(zmq::str_buffer("hello"), zmq::send_flags::none);
  for (int i = 0; i < 3; ++i) peer.send(zmq::str_buffer("part"), zmq::send_flags::sndmore);
  peer.send(zmq::str_buffer("last"), zmq::send_flags::none);
  peer.send(zmq::str_buffer("whole"), zmq::send_flags::none);
  Inbox inbox;
  REQUIRE(
      turn_until(node, inbox, [&] { return node.stats().malformed == 2 && !inbox.mail.empty(); }));
  CHECK(inbox.mail.size() == 1);
  CHECK(inbox.mail[0].frame.bytes() == "whole");
}

TEST_CASE("a frame over the limit cuts its sender's connection and no one else's") {
  auto node = open_node(1);
  auto good = open_node(2);
  const auto link = link_to(good, node);
  zmq::context_t context;
  zmq::socket_t bad(context, zmq::socket_type::dealer);
  bad.set(zmq::sockopt::linger, 0);
  bad.set(zmq::sockopt::routing_id, RoutingId::peer(node_id(9), 1).raw());
  bad.connect(node.data_endpoint().text());
  bad.send(zmq::message_t(limits::kFrameBytes + 1), zmq::send_flags::none);
  Inbox inbox;
  Bytes frame = "fine";
  REQUIRE(good.send(link, Lane::kData, frame) == Sent::kQueued);
  REQUIRE(turn_until(node, inbox, [&] { return !inbox.mail.empty(); }));
  // The cut one dials again and is heard again. What it sends before it notices is lost with the
  // connection.
  REQUIRE(turn_until(node, inbox, [&] {
    bad.send(zmq::str_buffer("small"), zmq::send_flags::dontwait);
    return inbox.mail.size() >= 2;
  }));
  CHECK(inbox.mail[0].frame.bytes() == "fine");
  CHECK(inbox.mail[1].frame.bytes() == "small");
}

TEST_CASE("mail that waits in a connection is not lost when its sender dials anew") {
  auto a = open_node(1);
  auto b = open_node(2);
  Inbox sender;
  Inbox inbox;
  constexpr std::size_t kLives = 20;
  for (std::size_t life = 0; life < kLives; ++life) {
    Bytes frame = std::to_string(life);
    REQUIRE(a.send(link_to(a, b), Lane::kControl, frame) == Sent::kQueued);
    a.poll(Millis{2}, sender);
    a.close_idle(Millis{1});
    REQUIRE(a.stats().dealers == 0);
  }
  // b looks only now.
  CHECK(turn_until(b, inbox, [&] { return inbox.mail.size() == kLives; }));
  std::set<Bytes> seen;
  for (const auto& mail : inbox.mail) seen.emplace(mail.frame.bytes());
  CHECK(seen.size() == kLives);
  CHECK(b.stats().malformed == 0);
}

TEST_CASE("mail that waits in a connection is handed over after its name went to a newer one") {
  auto node = open_node(1);
  const auto send = [&](zmq::context_t& context, BytesView text) {
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 20'000);
    socket.set(zmq::sockopt::routing_id, RoutingId::peer(node_id(9), 1).raw());
    socket.connect(node.control_endpoint().text());
    socket.send(zmq::buffer(text), zmq::send_flags::none);
  };
  for (const char* text : {"older", "newer"}) {
    zmq::context_t context;
    send(context, text);
    context.close();  // returns when all has left and the connection is closed
  }
  Inbox inbox;
  REQUIRE(turn_until(node, inbox, [&] { return inbox.mail.size() == 2; }));
  std::set<Bytes> seen;
  for (const auto& mail : inbox.mail) seen.emplace(mail.frame.bytes());
  CHECK(seen == std::set<Bytes>{"newer", "older"});
  CHECK(node.stats().malformed == 0);
}
