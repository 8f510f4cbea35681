#include "transport/client_channel.h"

#include <atomic>
#include <memory>
#include <thread>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

namespace {

constexpr Millis kWait = std::chrono::duration_cast<Millis>(kDeadline);

ClientChannel open_client(const Transport& node) {
  return std::move(*ClientChannel::open(node.control_endpoint()));
}

Mail ask(ClientChannel& client, Transport& node, Lane lane = Lane::kControl) {
  Bytes question = "question";
  REQUIRE(client.send(lane, question, kWait));
  Inbox inbox;
  REQUIRE(turn_until(node, inbox, [&] { return !inbox.mail.empty(); }));
  return std::move(inbox.mail[0]);
}

}  // namespace

TEST_CASE("a client asks and is answered by its routing id") {
  auto node = open_node(1);
  auto client = open_client(node);
  REQUIRE(client.connect(kWait));
  const auto question = ask(client, node);
  CHECK(question.lane == Lane::kControl);
  CHECK(question.from == client.routing_id());
  CHECK(question.from.is_client());
  CHECK(question.frame.bytes() == "question");
  for (const std::size_t size : {std::size_t{5}, limits::kFrameBytes}) {
    Bytes answer(size, 'a');
    REQUIRE(node.reply(question.from, answer) == Sent::kQueued);
    const auto got = client.recv(kWait);
    REQUIRE(got);
    REQUIRE(got->has_value());
    CHECK(((*got)->bytes() == Bytes(size, 'a')));
  }
}

TEST_CASE("two clients of one node get their own answers") {
  auto node = open_node(1);
  auto one = open_client(node);
  auto two = open_client(node);
  const auto from_one = ask(one, node).from;
  const auto from_two = ask(two, node).from;
  REQUIRE(from_one != from_two);
  Bytes to_two = "two";
  Bytes to_one = "one";
  REQUIRE(node.reply(from_two, to_two) == Sent::kQueued);
  REQUIRE(node.reply(from_one, to_one) == Sent::kQueued);
  CHECK(one.recv(kWait).value().value().bytes() == "one");
  CHECK(two.recv(kWait).value().value().bytes() == "two");
}

TEST_CASE("a client sends payloads over the data lane once it knows the endpoint") {
  auto node = open_node(1);
  auto client = open_client(node);
  Bytes payload = "payload";
  CHECK(client.send(Lane::kData, payload, kWait).error().code == Code::kInvalid);
  CHECK(payload == "payload");
  REQUIRE(client.set_data_endpoint(node.data_endpoint()));
  const auto mail = ask(client, node, Lane::kData);
  CHECK(mail.lane == Lane::kData);
  CHECK(mail.from == client.routing_id());
}

TEST_CASE("a client that is gone is found out by the answer, which stays untouched") {
  auto node = open_node(1);
  std::optional<RoutingId> from;
  {
    auto client = open_client(node);
    from = ask(client, node).from;
  }
  Inbox inbox;
  Bytes answer;
  // The node hears of it when the connection ends.
  CHECK(turn_until(node, inbox, [&] {
    answer = "answer";
    return node.reply(*from, answer) == Sent::kClosed;
  }));
  CHECK(answer == "answer");
}

TEST_CASE("a client that does not read fills its own queue and stops nobody") {
  auto node = open_node(1);
  auto deaf = open_client(node);
  auto good = open_client(node);
  const auto to_deaf = ask(deaf, node).from;
  const auto to_good = ask(good, node).from;
  Bytes answer;
  std::size_t queued = 0;
  do answer.assign(limits::kBatchBytes, 'a');
  while (node.reply(to_deaf, answer) == Sent::kQueued && ++queued < 100'000);
  CHECK(node.reply(to_deaf, answer) == Sent::kFull);
  CHECK(answer.size() == limits::kBatchBytes);
  Bytes other = "other";
  REQUIRE(node.reply(to_good, other) == Sent::kQueued);
  CHECK(good.recv(kWait).value().value().bytes() == "other");
}

TEST_CASE("a peer is never answered on the router") {
  auto a = open_node(1);
  auto b = open_node(2);
  Inbox inbox;
  Bytes frame = "x";
  REQUIRE(a.send(link_to(a, b), Lane::kControl, frame) == Sent::kQueued);
  REQUIRE(turn_until(b, inbox, [&] { return !inbox.mail.empty(); }));
  CHECK(b.reply(inbox.mail[0].from, frame) == Sent::kClosed);
}

TEST_CASE("where no node answers a client is told so at once, with the address") {
  Endpoint nobody;
  {
    auto node = open_node(1);
    nobody = node.control_endpoint();
  }
  auto client = std::move(*ClientChannel::open(nobody));
  const auto connected = client.connect(kWait);
  REQUIRE_FALSE(connected);
  CHECK(connected.error().code == Code::kUnreachable);
  CHECK(connected.error().message.find(nobody.text()) != std::string::npos);
  // It dials on: the node may come.
  auto node = open_node(1, nobody.port);
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!client.connect(kWait) && std::chrono::steady_clock::now() < end) continue;
  CHECK(client.connect(Millis{0}));
}

TEST_CASE("an endpoint that can't be dialled opens no channel") {
  CHECK(ClientChannel::open(Endpoint{"*", 1}).error().code == Code::kInvalid);
  CHECK(ClientChannel::open(Endpoint{"127.0.0.1", 0}).error().code == Code::kInvalid);
}

TEST_CASE("a node that dies under a waiting client ends the wait, and its next life is reached") {
  auto node = std::make_unique<Transport>(open_node(1));
  const auto port = node->control_endpoint().port;
  auto client = open_client(*node);
  REQUIRE(client.connect(kWait));
  ask(client, *node);
  node.reset();
  const auto got = client.recv(kWait);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == Code::kUnreachable);
  CHECK_FALSE(client.recv(Millis{0}).value());
  node = std::make_unique<Transport>(open_node(1, port));
  CHECK(ask(client, *node).from == client.routing_id());
}

TEST_CASE("a wait for an answer ends at its time or when woken") {
  auto node = open_node(1);
  auto client = open_client(node);
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(client.recv(Millis{10}).value());
  CHECK(std::chrono::steady_clock::now() - begin >= Millis{10});
  std::thread other([&] { client.wake(); });
  CHECK_FALSE(client.recv(kWait).value());
  CHECK(std::chrono::steady_clock::now() - begin < kDeadline);
  other.join();
}

TEST_CASE("a send to a node that reads nothing times out and leaves the frame untouched") {
  auto node = open_node(1);
  auto client = open_client(node);
  REQUIRE(client.set_data_endpoint(node.data_endpoint()));
  Result<void> sent;
  Bytes frame;
  for (int i = 0; i < 10'000 && sent; ++i) {
    frame.assign(limits::kBatchBytes, 'x');
    sent = client.send(Lane::kData, frame, Millis{50});
  }
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == Code::kTimeout);
  CHECK(frame.size() == limits::kBatchBytes);
}
