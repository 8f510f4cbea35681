// Binding, frames as they travel, waking, closing.
#include "transport/transport.h"

#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <memory>
#include <set>
#include <thread>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

TEST_CASE("free ports are taken when none is asked for, and told") {
  auto node = open_node(1);
  CHECK(node.control_endpoint().host == "127.0.0.1");
  CHECK(node.control_endpoint().port != 0);
  CHECK(node.data_endpoint().port != 0);
  CHECK(node.data_endpoint().port != node.control_endpoint().port);
}

TEST_CASE("a port asked for that is taken is an error that names it") {
  auto node = open_node(1);
  const auto port = node.control_endpoint().port;
  const auto second = Transport::open({node_id(2), Endpoint{"127.0.0.1", port}});
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Code::kInUse);
  CHECK(second.error().message.find(std::to_string(port)) != std::string::npos);
}

TEST_CASE("data takes the next port up, or a free one if that is taken") {
  // Whoever binds between the two lines makes this round worthless; another one follows.
  bool next = false;
  bool other = false;
  for (int round = 0; round < 50 && !(next && other); ++round) {
    std::uint16_t port = 0;
    {
      auto node = open_node(1);
      port = node.control_endpoint().port;
      next = next || node.data_endpoint().port == port + 1;
    }
    auto blocker =
        Transport::open({node_id(2), {"127.0.0.1", static_cast<std::uint16_t>(port + 1)}});
    auto node = Transport::open({node_id(1), {"127.0.0.1", port}});
    if (!blocker || !node) continue;
    CHECK(node->control_endpoint().port == port);
    CHECK(node->data_endpoint().port != port + 1);
    other = true;
  }
  CHECK(next);
  CHECK(other);
}

TEST_CASE("an address that this machine does not have is an error that names it") {
  const auto node = Transport::open({node_id(1), Endpoint{"203.0.113.7", 0}});
  REQUIRE_FALSE(node);
  CHECK(node.error().code == Code::kInvalid);
  CHECK(node.error().message.find("203.0.113.7") != std::string::npos);
}

TEST_CASE("IPv6 loopback carries frames where the machine has it") {
  auto a = Transport::open({node_id(1), Endpoint{"::1", 0}});
  if (!a) return;  // no IPv6 here
  auto b = open_node(2);
  Inbox inbox;
  Bytes frame = "over six";
  REQUIRE(b.send(link_to(b, *a), Lane::kControl, frame) == Sent::kQueued);
  REQUIRE(turn_until(*a, inbox, [&] { return !inbox.mail.empty(); }));
  CHECK(inbox.mail[0].frame.bytes() == "over six");
}

TEST_CASE("a frame arrives on the lane it was sent on, from the routing id of its sender") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  for (const Lane lane : {Lane::kControl, Lane::kData}) {
    Inbox inbox;
    Bytes frame = lane == Lane::kControl ? "control" : "data";
    REQUIRE(a.send(link, lane, frame) == Sent::kQueued);
    CHECK(frame.empty());
    REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
    CHECK(inbox.mail[0].lane == lane);
    CHECK(inbox.mail[0].from.raw().substr(0, 17) == "\x01" + Bytes(node_id(1).raw()));
    CHECK(inbox.mail[0].frame.bytes() == (lane == Lane::kControl ? "control" : "data"));
  }
}

TEST_CASE("frames of every size up to the limit arrive whole, copied or lent") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{33}, std::size_t{34}, std::size_t{4095}, std::size_t{4096},
        limits::kBatchBytes, limits::kFrameBytes}) {
    CAPTURE(size);
    Bytes frame(size, '\0');
    for (std::size_t i = 0; i < size; ++i) frame[i] = static_cast<char>(i * 7 + i / 251);
    const Bytes copy = frame;
    Inbox inbox;
    REQUIRE(a.send(link, Lane::kData, frame) == Sent::kQueued);
    REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
    CHECK((inbox.mail[0].frame.bytes() == copy));
  }
}

TEST_CASE("the memory of a batch that has left comes back empty, to be filled again") {
  auto a = open_node(1), b = open_node(2);
  Inbox at_a, at_b;
  const auto link = link_to(a, b);
  Bytes batch(limits::kBatchBytes, 'b');
  const auto* memory = batch.data();
  const auto capacity = batch.capacity();
  REQUIRE(a.send(link, Lane::kData, batch) == Sent::kQueued);
  Bytes small(1024, 's');
  REQUIRE(a.send(link, Lane::kData, small) == Sent::kQueued);
  REQUIRE(turn_until(b, at_b, [&] { return at_b.mail.size() == 2; }));
  std::vector<Bytes> spare;
  REQUIRE(turn_until(a, at_a, [&] {
    auto more = a.take_spare();
    std::move(more.begin(), more.end(), std::back_inserter(spare));
    return !spare.empty();
  }));
  REQUIRE(spare.size() == 1);
  CHECK(spare[0].empty());
  CHECK(spare[0].capacity() == capacity);
  CHECK(spare[0].data() == memory);
  CHECK(a.take_spare().empty());
}

TEST_CASE("views into a received frame stay good while the frame moves") {
  auto a = open_node(1);
  auto b = open_node(2);
  Inbox inbox;
  Bytes bytes(100, 'v');
  REQUIRE(a.send(link_to(a, b), Lane::kControl, bytes) == Sent::kQueued);
  REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
  const auto view = inbox.mail[0].frame.bytes();
  const Frame moved = std::move(inbox.mail[0].frame);
  inbox.mail.clear();
  CHECK(moved.bytes().data() == view.data());
  CHECK(view == Bytes(100, 'v'));
}

TEST_CASE("mail for another node is handed over with the head that says so") {
  auto a = open_node(1);
  auto b = open_node(2);
  wire::FrameHead head;
  head.cluster = wire::cluster_hash("default");
  head.sender = node_id(1);
  head.receiver = node_id(99);  // whoever had b's port before
  head.receiver_incarnation = 5;
  wire::FrameBuilder builder(head);
  builder.append("\x91\x01");
  Bytes frame = builder.take();
  Inbox inbox;
  REQUIRE(a.send(link_to(a, b), Lane::kControl, frame) == Sent::kQueued);
  REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
  CHECK(wire::FrameReader(inbox.mail[0].frame.bytes()).head() == head);
}

TEST_CASE("a turn takes a bounded share and says that more is waiting") {
  auto a = open_node(1);
  auto b = open_node(2);
  const auto link = link_to(a, b);
  Inbox sender;
  Inbox inbox;
  constexpr std::size_t kFrames = 2'500;
  std::size_t made = 0;
  std::size_t largest = 0;
  bool more_seen = false;
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (inbox.mail.size() < kFrames && std::chrono::steady_clock::now() < end) {
    // Fills the queues of both ends before b looks.
    for (; made < kFrames; ++made) {
      Bytes frame = std::to_string(made);
      if (a.send(link, Lane::kControl, frame) != Sent::kQueued) break;
    }
    a.poll(Millis{10}, sender);
    const auto before = inbox.mail.size();
    more_seen = b.poll(Millis{10}, inbox).more || more_seen;
    largest = std::max(largest, inbox.mail.size() - before);
  }
  REQUIRE(inbox.mail.size() == kFrames);
  for (std::size_t i = 0; i < kFrames; ++i) {
    CHECK(inbox.mail[i].frame.bytes() == std::to_string(i));
  }
  CHECK(more_seen);
  CHECK(largest == limits::kTurnFrames);
}

TEST_CASE("wake ends a wait from another thread, once for many calls") {
  auto node = open_node(1);
  Inbox inbox;
  std::thread other([&] {
    for (int i = 0; i < 100'000; ++i) node.wake();
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK(node.poll(kDeadline, inbox).woken);
  CHECK(std::chrono::steady_clock::now() - begin < kDeadline);
  other.join();
  node.poll(Nanos{0}, inbox);
  CHECK_FALSE(node.poll(Nanos{0}, inbox).woken);
}

TEST_CASE("a wait without anything to come ends at its time, not before") {
  auto node = open_node(1);
  Inbox inbox;
  const auto begin = std::chrono::steady_clock::now();
  const auto turn = node.poll(Micros{10'500}, inbox);
  CHECK(std::chrono::steady_clock::now() - begin >= Micros{10'500});
  CHECK_FALSE(turn.woken);
  CHECK_FALSE(turn.more);
}

TEST_CASE("a node restarted on its port gets mail over the link that its peer already has") {
  auto a = open_node(1);
  Inbox inbox_a;
  auto b = std::make_unique<Transport>(open_node(2));
  const auto port = b->control_endpoint().port;
  const auto data = b->data_endpoint();
  const auto link = link_to(a, *b);
  for (int life = 0; life < 5; ++life) {
    CAPTURE(life);
    Inbox inbox;
    const Bytes expected = "life " + std::to_string(life);
    // What is sent before libzmq has noticed the restart may be lost: sent again until it arrives.
    CHECK(turn_until(*b, inbox, [&] {
      Bytes frame = expected;
      a.send(link, Lane::kControl, frame);
      a.poll(Nanos{0}, inbox_a);
      return !inbox.mail.empty() && inbox.mail.back().frame.bytes() == expected;
    }));
    b.reset();
    b = std::make_unique<Transport>(open_node(2, port));
    CHECK(b->control_endpoint().port == port);
  }
}

TEST_CASE("close gives what is queued its time to leave and frees the ports") {
  auto b = open_node(2);
  Inbox inbox;
  std::uint16_t port = 0;
  {
    auto a = open_node(1);
    port = a.control_endpoint().port;
    Bytes frame = "farewell";
    const auto link = link_to(a, b);
    REQUIRE(a.send(link, Lane::kControl, frame) == Sent::kQueued);
    a.close(kDeadline);
    Bytes late = "late";
    CHECK(a.send(link, Lane::kControl, late) == Sent::kClosed);
    CHECK(late == "late");
    CHECK_FALSE(a.poll(Nanos{0}, inbox).more);
  }
  REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
  CHECK(inbox.mail[0].frame.bytes() == "farewell");
  CHECK(open_node(3, port).control_endpoint().port == port);
}

TEST_CASE("a forked child lets go of the sockets and the parent's go on") {
  auto a = std::make_unique<Transport>(open_node(1));
  auto b = open_node(2);
  const auto link = link_to(*a, b);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    a.reset();
    ::_exit(7);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  Inbox inbox;
  Bytes frame = "still here";
  REQUIRE(a->send(link, Lane::kControl, frame) == Sent::kQueued);
  CHECK(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
}
