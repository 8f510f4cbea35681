// What a node answers to clients, which bind nothing and are known by their routing ids.
#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "core/wire/call.h"
#include "tests/unit/peer/peer_world.h"

namespace headrace {

using namespace std::chrono_literals;

namespace {

template <typename Call>
Bytes encoded(const Call& call) {
  Bytes bytes;
  encode(bytes, call);
  return bytes;
}

struct Answered {
  std::uint64_t call = 0;
  std::uint8_t code = 0;
  std::string message;
  Bytes body;
};

Answered read_reply(const std::vector<Bytes>& messages) {
  REQUIRE_FALSE(messages.empty());
  wire::BlobAssembler blobs(8, 64 << 20);
  for (const auto& message : messages) {
    wire::Reader in(message);
    in.array(64);
    const auto kind = static_cast<wire::Kind>(in.u64());
    if (kind == wire::Kind::kBlob) {
      wire::BlobPiece piece;
      REQUIRE(decode(in, piece));
      blobs.add(piece);
      continue;
    }
    REQUIRE(kind == wire::Kind::kReply);
    REQUIRE(&message == &messages.back());  // one answer
    wire::Reply reply;
    REQUIRE(decode(in, reply));
    Bytes body(reply.body.inlined);
    if (reply.body.blob != 0) body = blobs.take(reply.body.blob).value();
    return {reply.call, reply.code, std::string(reply.message), std::move(body)};
  }
  FAIL("no reply");
  return {};
}

wire::NewJob wanted(std::uint64_t n, BytesView topic = "work") {
  wire::NewJob job;
  job.id = JobId::from_halves(777, n);
  job.topic = topic;
  return job;
}

}  // namespace

TEST_CASE("A client's hello is answered whatever its head says, with who lives here") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  wire::FrameHead head;
  SECTION("knows nothing yet") {}
  SECTION("remembers an earlier life") {
    head = w.client_head(node), head.receiver_incarnation -= 1;
  }
  SECTION("remembers another node") {
    head = w.client_head(node), head.receiver = NodeId::from_halves(5, 5);
  }
  w.frame(node, PeerWorld::framed(head, {encoded(wire::CallHello{9})}), "client");
  w.settle();
  const auto reply = read_reply(node.to_clients["client"]);
  CHECK(reply.call == 9);
  CHECK(reply.code == 0);
  wire::HelloBody body;
  REQUIRE(decode_body(reply.body, body));
  CHECK(body.id == node.id());
  CHECK(body.incarnation == node.peer->config().incarnation);
  CHECK(body.name == "node-1");
  CHECK(body.cluster == "default");
  CHECK(body.data_endpoint == "d1");
  CHECK(body.has_store);
}

TEST_CASE("A client's calls for an earlier life or another node are dropped and counted") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  auto head = w.client_head(node);
  SECTION("life") { head.receiver_incarnation -= 1; }
  SECTION("node") { head.receiver = NodeId::from_halves(5, 5); }
  SECTION("cluster") { head.cluster = 0; }
  w.frame(node, PeerWorld::framed(head, {encoded(wire::CallMembers{1})}), "client");
  w.settle();
  CHECK(node.to_clients["client"].empty());
  CHECK(node.peer->strange_mail() == 1);
}

TEST_CASE("A client adds jobs, all or none, and is told level and ids once they are stored") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  node.disk_stands_still = true;
  wire::CallAddJobs add;
  add.call = 3;
  add.jobs = {wanted(1), wanted(2)};
  CHECK(w.ask(node, encoded(add)).empty());
  node.disk_stands_still = false;
  w.settle();
  w.settle();
  const auto reply = read_reply(node.to_clients["client"]);
  CHECK(reply.call == 3);
  CHECK(reply.code == 0);
  wire::Reader body(reply.body);
  CHECK(body.array(2) == 2);
  CHECK(body.u64() == 0);
  REQUIRE(body.array(10) == 2);
  CHECK(body.id<JobId>() == JobId::from_halves(777, 1));
  CHECK(body.id<JobId>() == JobId::from_halves(777, 2));
  // Again, with one that is bad: nothing of it is stored.
  add.call = 4;
  add.jobs = {wanted(3), wanted(4, "not..a.topic")};
  const auto refused = read_reply(w.ask(node, encoded(add)));
  CHECK(refused.code == static_cast<std::uint8_t>(Code::kInvalid));
  CHECK(refused.message.find("not..a.topic") != std::string::npos);
  const auto found =
      job::decode_infos(read_reply(w.ask(node, encoded(wire::CallFindJobs{5, 0, "", 100}))).body);
  REQUIRE(found);
  CHECK(found->size() == 2);
}

TEST_CASE("A client's repeated add is the same job") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  wire::CallAddJobs add;
  add.call = 3;
  add.jobs = {wanted(1)};
  for (int i = 0; i < 3; ++i) {
    CHECK(read_reply(w.ask(node, encoded(add))).code == 0);
    add.repeat = true;
    add.call += 1;
  }
  CHECK(job::decode_infos(read_reply(w.ask(node, encoded(wire::CallFindJobs{9, 0, "", 100}))).body)
            ->size() == 1);
}

TEST_CASE("A node without a store passes what clients ask on to its owner") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& bare = w.add(2, false);
  w.meet();
  wire::CallAddJobs add;
  add.call = 4;
  add.jobs = {wanted(1)};
  const auto added = read_reply(w.ask(bare, encoded(add)));
  CHECK(added.code == 0);
  CHECK(added.call == 4);
  const auto id = JobId::from_halves(777, 1);
  const auto got =
      job::decode_infos(read_reply(w.ask(bare, encoded(wire::CallGetJob{5, id}))).body);
  REQUIRE(got);
  CHECK(got->front().owner == owner.id());
  CHECK(job::decode_infos(read_reply(w.ask(bare, encoded(wire::CallFindJobs{6, 0, "", 9}))).body)
            ->size() == 1);

  CHECK(w.ask(bare, encoded(wire::CallWaitJob{7, id, 20s})).empty());
  bare.peer->add_consumer(w.now, {*TopicPattern::parse("work"), 1, {}});
  w.until([&] { return bare.started.size() == 1; });
  bare.to_clients.clear();
  w.finish(bare, 0);
  w.until([&] { return !bare.to_clients["client"].empty(); });
  const auto ended = job::decode_infos(read_reply(bare.to_clients["client"]).body);
  REQUIRE(ended);
  CHECK(ended->front().state == JobState::kSucceeded);
}

TEST_CASE(
    "A client that waits through a node without a store is told in the end how its job stands") {
  PeerWorld w;
  w.add(1, true);
  auto& bare = w.add(2, false);
  w.meet();
  wire::CallAddJobs add;
  add.jobs = {wanted(1)};
  REQUIRE(read_reply(w.ask(bare, encoded(add))).code == 0);
  const auto id = JobId::from_halves(777, 1);
  CHECK(w.ask(bare, encoded(wire::CallWaitJob{7, id, 2s})).empty());
  bare.to_clients.clear();
  w.advance(3s);
  const auto infos = job::decode_infos(read_reply(bare.to_clients["client"]).body);
  REQUIRE(infos);
  CHECK(infos->front().state == JobState::kQueued);
}

TEST_CASE("A client has as many calls under way as are taken of one, and no more") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  wire::CallAddJobs add;
  add.jobs = {wanted(1)};
  read_reply(w.ask(node, encoded(add)));
  const auto id = JobId::from_halves(777, 1);
  const auto wait = [&](std::uint64_t call) { return encoded(wire::CallWaitJob{call, id, 20s}); };
  node.to_clients.clear();
  for (std::uint64_t call = 1; call <= limits::kClientCalls; ++call) {
    w.frame(node, PeerWorld::framed(w.client_head(node), {wait(call)}), "client");
  }
  w.settle();
  CHECK(node.to_clients["client"].empty());
  CHECK(read_reply(w.ask(node, wait(limits::kClientCalls + 1))).code ==
        static_cast<std::uint8_t>(Code::kFull));
  CHECK(w.ask(node, wait(1), "another").empty());
}

TEST_CASE("A client has as many registrations as are taken of one, and no more") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  const auto subscribe = [&](std::uint64_t n) {
    wire::CallSubscribe call;
    call.call = n;
    call.subscription = n;
    call.topic = "a";
    return encoded(call);
  };
  for (std::uint64_t n = 1; n <= limits::kClientSubscriptions; ++n) {
    w.frame(node, PeerWorld::framed(w.client_head(node), {subscribe(n)}), "client");
  }
  w.settle();
  CHECK(node.to_clients["client"].size() == limits::kClientSubscriptions);
  node.to_clients.clear();
  CHECK(read_reply(w.ask(node, subscribe(1))).code == 0);  // a repeat
  node.to_clients.clear();
  CHECK(read_reply(w.ask(node, subscribe(limits::kClientSubscriptions + 1))).code ==
        static_cast<std::uint8_t>(Code::kFull));
}

TEST_CASE(
    "An add without jobs, and one to a node that knows no store, are refused with the reason") {
  PeerWorld w, elsewhere;
  auto& node = w.add(1, true);
  auto& bare = elsewhere.add(2, false);
  w.settle();
  elsewhere.settle();
  CHECK(read_reply(w.ask(node, encoded(wire::CallAddJobs{}))).code ==
        static_cast<std::uint8_t>(Code::kInvalid));
  wire::CallAddJobs add;
  add.jobs = {wanted(1)};
  const auto reply = read_reply(elsewhere.ask(bare, encoded(add)));
  CHECK(reply.code == static_cast<std::uint8_t>(Code::kNoStore));
  CHECK(reply.message.find("data") != std::string::npos);
}

TEST_CASE("A client gets a job, finds jobs, and waits for one, with one answer each") {
  PeerWorld w;
  auto& node = w.add(1, true);
  node.peer->add_consumer(w.now, {*TopicPattern::parse("work"), 1, {}});
  w.settle();
  wire::CallAddJobs add;
  add.jobs = {wanted(1), wanted(2, "idle")};
  read_reply(w.ask(node, encoded(add)));
  w.until([&] { return node.started.size() == 1; });
  const auto id = JobId::from_halves(777, 1);

  const auto got =
      job::decode_infos(read_reply(w.ask(node, encoded(wire::CallGetJob{5, id}))).body);
  REQUIRE(got);
  CHECK(got->at(0).state == JobState::kActive);
  CHECK(read_reply(w.ask(node, encoded(wire::CallGetJob{6, JobId::from_halves(1, 1)}))).code ==
        static_cast<std::uint8_t>(Code::kNotFound));

  const auto queued = static_cast<std::uint8_t>(JobState::kQueued);
  const auto found = job::decode_infos(
      read_reply(w.ask(node, encoded(wire::CallFindJobs{7, queued, "idle", 5}))).body);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK(found->at(0).id == JobId::from_halves(777, 2));
  CHECK(read_reply(w.ask(node, encoded(wire::CallFindJobs{8, 0, "a..b", 5}))).code ==
        static_cast<std::uint8_t>(Code::kInvalid));

  CHECK(w.ask(node, encoded(wire::CallWaitJob{9, id, Millis{2000}})).empty());
  w.advance(1900ms);
  CHECK(node.to_clients["client"].empty());
  w.advance(200ms);  // its patience is over: as it stands
  CHECK(job::decode_infos(read_reply(node.to_clients["client"]).body)->at(0).state ==
        JobState::kActive);
  CHECK(w.ask(node, encoded(wire::CallWaitJob{10, id, Millis{20'000}})).empty());
  w.advance(1s);
  w.finish(node, 0);
  w.settle();
  const auto ended = read_reply(node.to_clients["client"]);
  CHECK(ended.call == 10);
  CHECK(job::decode_infos(ended.body)->at(0).state == JobState::kSucceeded);
}

TEST_CASE("A large answer comes in pieces, and one beyond the limit is an error that says so") {
  PeerWorld w;
  auto& node = w.add(1, true);
  node.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.settle();
  for (std::uint64_t i = 1; i <= 18; ++i) {
    wire::CallAddJobs add;
    add.jobs = {wanted(i)};
    read_reply(w.ask(node, encoded(add)));
    w.until([&] { return node.started.size() == i; });
    JobEnd end;
    wire::Writer(end.result).bin(Bytes(1'000'000, 'r'));
    w.finish(node, i - 1, std::move(end));
    w.advance(100ms);
  }
  const auto few =
      job::decode_infos(read_reply(w.ask(node, encoded(wire::CallFindJobs{1, 0, "", 10}))).body);
  REQUIRE(few);
  CHECK(few->size() == 10);
  REQUIRE(few->at(9).result);
  const auto all = read_reply(w.ask(node, encoded(wire::CallFindJobs{2, 0, "", 100})));
  CHECK(all.code == static_cast<std::uint8_t>(Code::kFull));
  CHECK(all.message.find("fewer") != std::string::npos);
}

TEST_CASE("A client sees the members") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.add(2, false);
  w.meet();
  std::vector<wire::MemberRow> rows;
  REQUIRE(decode_body(read_reply(w.ask(node, encoded(wire::CallMembers{1}))).body, rows));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "node-1");
  CHECK(rows[0].state == "alive");
  CHECK(rows[1].endpoint == "c2");
  CHECK(rows[1].data_endpoint == "d2");
}

TEST_CASE("A client's publish is handed on, and its answer is the plane's") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  wire::CallPublish publish;
  publish.call = 8;
  publish.topic = "a.b";
  publish.payload.inlined = "p";
  CHECK(w.ask(node, encoded(publish)).empty());
  REQUIRE(node.published.size() == 1);
  CHECK(node.published[0].topic == "a.b");
  CHECK(node.published[0].payload == "p");
  node.peer->client_published(node.published[0].publish,
                              wire::PublishedBody{EventId::from_halves(1, 2), 3, 4});
  w.settle();
  const auto reply = read_reply(node.to_clients["client"]);
  CHECK(reply.call == 8);
  wire::PublishedBody body;
  REQUIRE(decode_body(reply.body, body));
  CHECK(body.destinations == 3);
  CHECK(body.dropped == 4);
  node.peer->client_published(node.published[0].publish,
                              wire::PublishedBody{});  // a second answer goes nowhere
  w.settle();
  CHECK(node.to_clients["client"].size() == 1);
}

TEST_CASE("A client that subscribes gets its events until it unsubscribes") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  CHECK(read_reply(w.ask(node, encoded(wire::CallSubscribe{1, 55, "a.>", true}))).code == 0);
  CHECK(read_reply(w.ask(node, encoded(wire::CallSubscribe{2, 55, "a.>", true}))).code ==
        0);  // repeated
  REQUIRE(node.subscribed.size() == 1);
  CHECK(node.subscribed[0].topic == "a.>");
  CHECK(node.subscribed[0].sink);
  node.to_clients.clear();
  wire::ClientEvent event;
  event.topic = "a.b";
  event.payload.inlined = "payload";
  node.peer->client_event(node.subscribed[0].subscription, event);
  w.settle();
  REQUIRE(node.to_clients["client"].size() == 1);
  wire::Reader in(node.to_clients["client"][0]);
  in.array(64);
  CHECK(in.u64() == wire::number(wire::Kind::kClientEvent));
  wire::ClientEvent got;
  REQUIRE(decode(in, got));
  CHECK(got.subscription == 55);
  CHECK(got.topic == "a.b");
  CHECK(got.payload.inlined == "payload");
  CHECK(read_reply(w.ask(node, encoded(wire::CallUnsubscribe{3, 55}))).code == 0);
  CHECK(node.unsubscribed == std::vector<std::uint64_t>{node.subscribed[0].subscription});
  node.to_clients.clear();
  node.peer->client_event(node.subscribed[0].subscription, event);
  w.settle();
  CHECK(node.to_clients.empty());
  CHECK(read_reply(w.ask(node, encoded(wire::CallSubscribe{4, 56, "a..b", true}))).code ==
        static_cast<std::uint8_t>(Code::kInvalid));
}

TEST_CASE(
    "A client that says nothing for ten seconds loses its subscriptions; one that is alive keeps "
    "them") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  w.ask(node, encoded(wire::CallSubscribe{1, 5, "a", false}), "quiet");
  w.ask(node, encoded(wire::CallSubscribe{1, 5, "a", false}), "alive");
  for (int i = 0; i < 12; ++i) {
    w.advance(1s);
    w.ask(node, encoded(wire::ClientAlive{}), "alive");
    if (i < 8) CHECK(node.unsubscribed.empty());
  }
  CHECK(node.unsubscribed == std::vector<std::uint64_t>{node.subscribed[0].subscription});
}

TEST_CASE("A client whose connection is gone loses its subscriptions at once") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  w.ask(node, encoded(wire::CallSubscribe{1, 5, "a", false}));
  node.peer->on_client_gone(w.now, "client");
  w.settle();
  CHECK(node.unsubscribed.size() == 1);
}

TEST_CASE("Clients are served up to the limit; one more is refused") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  for (std::size_t i = 0; i < limits::kClients; ++i) {
    w.frame(
        node,
        PeerWorld::framed(w.client_head(node), {encoded(wire::CallSubscribe{1, 5, "a", false})}),
        "client" + std::to_string(i));
  }
  w.settle();
  CHECK(node.subscribed.size() == limits::kClients);
  CHECK(read_reply(w.ask(node, encoded(wire::CallSubscribe{1, 5, "a", false}), "one more")).code ==
        static_cast<std::uint8_t>(Code::kFull));
}

TEST_CASE("A node does not subscribe through another") {
  PeerWorld w;
  auto& node = w.add(1, true);
  auto& other = w.add(2, false);
  w.meet();
  w.frame(node,
          PeerWorld::framed(w.head(other, node), {encoded(wire::CallSubscribe{1, 5, "a", false})}));
  w.settle();
  CHECK(node.subscribed.empty());
}

}  // namespace headrace
