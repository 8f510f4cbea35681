#include "tests/unit/peer/peer_world.h"

#include "core/wire/frame.h"

namespace headrace {

job::NewJob new_job(const std::string& topic) {
  job::NewJob job;
  job.topic = topic;
  return job;
}

wire::Kind kind_of(BytesView message) {
  wire::Reader in(message);
  in.array(UINT32_MAX);
  return static_cast<wire::Kind>(in.u64());
}

TestPeer& PeerWorld::add(std::uint64_t number, bool with_store, const std::string& owner) {
  auto one = std::make_unique<TestPeer>();
  PeerConfig config;
  config.id = NodeId::from_halves(number << 40, number);
  config.incarnation = 1000 + number;
  config.seed = number;
  config.name = "node-" + std::to_string(number);
  config.control_endpoint = "c" + std::to_string(number);
  config.data_endpoint = "d" + std::to_string(number);
  if (!peers.empty()) config.seeds = {"c1"};
  config.owner = owner;
  config.has_store = with_store;
  one->peer = std::make_unique<Peer>(config, one->events);
  std::unique_ptr<Snapshot> snapshot;
  if (with_store) snapshot = std::move(*one->store.snapshot());
  REQUIRE(one->peer->open(now, snapshot.get()));
  snapshot.reset();
  peers.push_back(std::move(one));
  return *peers.back();
}

TestPeer* PeerWorld::at_endpoint(const std::string& endpoint) {
  for (auto& one : peers) {
    if (one->peer->config().control_endpoint == endpoint) return one.get();
  }
  return nullptr;
}

Bytes PeerWorld::framed(const wire::FrameHead& head, const std::vector<Bytes>& messages) {
  wire::FrameBuilder builder(head);
  for (const auto& message : messages) builder.append(message);
  return builder.take();
}

wire::FrameHead PeerWorld::head(const TestPeer& from, const TestPeer& to) const {
  return {wire::kProtocolVersion,
          wire::cluster_hash("default"),
          from.id(),
          from.peer->config().incarnation,
          to.id(),
          to.peer->config().incarnation};
}

wire::FrameHead PeerWorld::client_head(const TestPeer& to) const {
  return {wire::kProtocolVersion,       wire::cluster_hash("default"), {}, 0, to.id(),
          to.peer->config().incarnation};
}

void PeerWorld::frame(TestPeer& to, BytesView bytes, BytesView client, wire::Lane lane) {
  auto keep = std::make_shared<const Bytes>(bytes);
  to.peer->on_frame(now, lane, client, *keep, keep);
}

std::vector<Bytes> PeerWorld::ask(TestPeer& to, const Bytes& message, const Bytes& client) {
  to.to_clients[client].clear();
  frame(to, framed(client_head(to), {message}), client);
  settle();
  return to.to_clients[client];
}

void PeerWorld::carry(TestPeer& one, Action& action) {
  const auto& config = one.peer->config();
  wire::FrameHead from{wire::kProtocolVersion,
                       wire::cluster_hash(config.cluster),
                       config.id,
                       config.incarnation,
                       {},
                       0};
  if (auto* send = std::get_if<Send>(&action)) {
    seen.emplace_back(send->to, send->message);
    from.receiver = send->to;
    if (send->to == config.id) {
      from.receiver_incarnation = config.incarnation;
      return wire_.push_back({&one, framed(from, {send->message}), send->lane});
    }
    const auto reach = one.reached.find(send->to);
    if (reach == one.reached.end()) return;
    from.receiver_incarnation = reach->second.incarnation;
    auto* to = at_endpoint(reach->second.control);
    if (to != nullptr && !to->cut && !one.cut)
      wire_.push_back({to, framed(from, {send->message}), send->lane});
  } else if (auto* mail = std::get_if<SendEndpoint>(&action)) {
    auto* to = at_endpoint(mail->endpoint);
    if (to != nullptr && !to->cut && !one.cut)
      wire_.push_back({to, framed(from, {mail->message}), wire::Lane::kControl});
  } else if (auto* client = std::get_if<SendClient>(&action)) {
    one.to_clients[client->routing_id].push_back(client->message);
  } else if (auto* reach = std::get_if<Reach>(&action)) {
    one.reached[reach->node] = *reach;
  } else if (auto* unreach = std::get_if<Unreach>(&action)) {
    one.reached.erase(unreach->node);
  } else if (auto* start = std::get_if<StartJob>(&action)) {
    one.started.push_back(*start);
  } else if (auto* stop = std::get_if<StopJob>(&action)) {
    one.stopped.insert(stop->run);
  } else if (auto* answer = std::get_if<AnswerCall>(&action)) {
    REQUIRE(one.answers.emplace(answer->call, answer->answer).second);  // once each
  } else if (auto* subscribe = std::get_if<ClientSubscribe>(&action)) {
    one.subscribed.push_back(*subscribe);
  } else if (auto* gone = std::get_if<ClientUnsubscribe>(&action)) {
    one.unsubscribed.push_back(gone->subscription);
  } else if (auto* publish = std::get_if<ClientPublish>(&action)) {
    one.published.push_back(*publish);
  }
}

bool PeerWorld::turn(TestPeer& one) {
  if (one.peer->next_timer(now) <= now.mono) one.peer->tick(now);
  auto output = one.peer->end_turn(now);
  bool moved = output.commit || !output.reads.empty() || !output.actions.empty();
  if (output.commit) {
    REQUIRE(one.store.write(output.commit->batch, output.commit->level == Level::kDisk));
    one.synced = output.commit->number;
  }
  for (auto& action : output.actions) carry(one, action);
  if (!one.disk_stands_still) one.peer->on_commit(now, one.synced, one.synced);
  if (!output.reads.empty()) {
    auto snapshot = one.store.snapshot();
    REQUIRE(snapshot);
    for (auto& read : output.reads) one.peer->on_read(now, read.task(**snapshot));
  }
  return moved;
}

void PeerWorld::settle() {
  for (int rounds = 0;; ++rounds) {
    REQUIRE(rounds < 5000);
    bool moved = false;
    for (auto& one : peers) moved |= turn(*one);
    for (auto& mail : std::exchange(wire_, {})) {
      moved = true;
      ++frames;
      frame(*mail.to, mail.bytes, {}, mail.lane);
    }
    if (!moved) return;
  }
}

void PeerWorld::advance(Nanos duration) {
  const auto end = now.mono + duration;
  while (now.mono < end) {
    auto next = end;
    for (auto& one : peers)
      next = std::min(next, std::max(now.mono + Millis{1}, one->peer->next_timer(now)));
    now.wall += std::chrono::ceil<Micros>(next - now.mono);
    now.mono = next;
    settle();
  }
}

void PeerWorld::meet() {
  settle();
  REQUIRE(until([&] {
    for (auto& one : peers) {
      if (!one->peer->ready() || one->peer->members(now).size() != peers.size()) return false;
    }
    return true;
  }));
  advance(Millis{1000});
}

void PeerWorld::finish(TestPeer& at, std::size_t i, JobEnd end) {
  at.peer->on_job_ended(now, at.started.at(i).run, std::move(end), Millis{1});
  settle();
}

}  // namespace headrace
