// Whatever arrives: nothing ends a node, and it goes on serving.
#include "core/base/random.h"
#include "core/wire/call.h"
#include "tests/unit/peer/peer_world.h"

namespace headrace {
namespace {

using namespace std::chrono_literals;

// Valid messages of all kinds that go through a Peer, between nodes and of a client.
std::vector<Bytes> samples() {
  const Bytes payload(300, 'p');
  std::vector<Bytes> all;
  const auto put = [&](const auto& message) { encode(all.emplace_back(), message); };
  wire::JobItem item;
  item.window = {1, "default"};
  item.head.announce = {1, {1002, 1}, 4, 1, 0, 0, false};
  item.token = {7, 1};
  item.topic = "work";
  item.payload.inlined = payload;
  put(item);
  put(wire::JobDone{{7, 1}, 1, 1, payload, "error", Millis{5}});
  put(wire::JobDoneAck{7, {1, 2, 3}, {4}});
  put(wire::JobHandBack{{{1, {7, 1}}}});
  put(wire::JobClaims{{{1, {7, 1}}, {2, {7, 2}}}});
  put(wire::JobClaimsAck{{{1, {7, 1}}}});
  put(wire::BlobPiece{1, 0, 600, payload});
  for (const auto kind : {wire::Kind::kAnnounce, wire::Kind::kMark}) {
    wire::Writer out(all.emplace_back());
    out.array(3).u64(wire::number(kind));
    encode(out, item.window);
    encode(out, item.head.announce);
  }
  wire::WindowState state;
  state.session = {1002, 1};
  state.sender = 1001;
  state.limit = 4;
  state.full = true;
  state.held = {{1, 1, 2}};
  wire::Writer out(all.emplace_back());
  out.array(3).u64(wire::number(wire::Kind::kWindowState));
  encode(out, item.window);
  encode(out, state);
  wire::CallAddJobs add;
  add.call = 1;
  add.jobs.emplace_back();
  add.jobs[0].id = JobId::from_halves(1, 2);
  add.jobs[0].topic = "work";
  put(add);
  put(wire::CallGetJob{2, JobId::from_halves(1, 2)});
  put(wire::CallFindJobs{3, 0, "work", 10});
  put(wire::CallWaitJob{4, JobId::from_halves(1, 2), Millis{100}});
  put(wire::CallMembers{5});
  wire::CallPublish publish;
  publish.topic = "a.b";
  put(publish);
  put(wire::CallSubscribe{6, 1, "a.b", true});
  put(wire::CallUnsubscribe{7, 1});
  put(wire::CallHello{8});
  put(wire::ClientAlive{});
  wire::Reply reply;
  reply.call = 1;
  reply.body.inlined = payload;
  put(reply);
  return all;
}

Bytes damage(Bytes bytes, Random& random) {
  switch (random.below(4)) {
    case 0: bytes.resize(random.below(bytes.size() + 1)); break;
    case 1:
      bytes.insert(random.below(bytes.size() + 1),
                   Bytes(1 + random.below(9), static_cast<char>(random.next())));
      break;
    default:
      for (auto n = 1 + random.below(4); n > 0 && !bytes.empty(); --n) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.next());
      }
  }
  return bytes;
}

}  // namespace

TEST_CASE("Frames damaged anywhere, from members and clients, end nothing and are counted") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    PeerWorld w;
    auto& owner = w.add(1, true);
    auto& worker = w.add(2, false);
    owner.peer->add_consumer(w.now, {*TopicPattern::parse("work"), 1, {}});
    worker.peer->add_consumer(w.now, {*TopicPattern::parse("work"), 1, {}});
    w.meet();
    const auto messages = samples();
    for (int i = 0; i < 4000; ++i) {
      auto& to = random.chance(0.5) ? owner : worker;
      auto& from = &to == &owner ? worker : owner;
      const bool client = random.chance(0.4);
      Bytes message = messages[random.below(messages.size())];
      if (random.chance(0.5)) message = damage(std::move(message), random);
      Bytes frame;
      wire::Writer out(frame);
      encode(out, client ? w.client_head(to) : w.head(from, to));
      frame += message;
      if (random.chance(0.3)) frame = damage(std::move(frame), random);
      w.frame(to, frame, client ? "client" : "",
              random.chance(0.5) ? wire::Lane::kData : wire::Lane::kControl);
      if (random.chance(0.2)) w.settle();
      if (random.chance(0.02)) w.advance(Millis{100});
    }
    w.settle();
    CHECK(owner.peer->bad_frames() + worker.peer->bad_frames() > 100);
    // It still serves.
    owner.peer->add_jobs(w.now, 1'000'000, {new_job("after")}, w.now.mono + 30s);
    REQUIRE(w.until([&] { return owner.answers.contains(1'000'000); }));
    CHECK(owner.answers.at(1'000'000));
  }
}

TEST_CASE("Bytes without any sense are bad frames") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  Random random(9);
  std::uint64_t sent = 0;
  for (int i = 0; i < 5000; ++i) {
    Bytes noise(random.below(200), '\0');
    for (auto& byte : noise) byte = static_cast<char>(random.next());
    w.frame(node, noise, random.chance(0.5) ? "client" : "");
    ++sent;
  }
  w.settle();
  CHECK(node.peer->bad_frames() + node.peer->strange_mail() == sent);
}

TEST_CASE("Pieces of payloads that nobody names are bounded in memory, whoever sends them") {
  PeerWorld w;
  auto& node = w.add(1, true);
  w.settle();
  const Bytes piece(limits::kChunkBytes, 'x');
  for (int client = 0; client < 200; ++client) {
    Bytes message;
    encode(message, wire::BlobPiece{1, 0, limits::kJobPayloadBytes, piece});
    w.frame(node, PeerWorld::framed(w.client_head(node), {message}),
            "client" + std::to_string(client));
  }
  w.settle();
  CHECK(node.peer->bad_frames() == 0);
  wire::CallAddJobs add;
  add.call = 1;
  add.jobs.emplace_back();
  add.jobs[0].id = JobId::from_halves(1, 2);
  add.jobs[0].topic = "work";
  Bytes message;
  encode(message, add);
  CHECK(w.ask(node, message, "another").size() == 1);
}

}  // namespace headrace
