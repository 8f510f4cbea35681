#include <catch2/catch.hpp>

#include "tests/unit/member/cluster.h"

using namespace headrace;
using namespace headrace::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kNodes = 6;

// One random act: crash, start, leave and start, advert, partition, loss.
void disturb(Cluster& cluster, Random& random) {
  const auto place = random.below(kNodes);
  Cluster::Options options;
  options.seeds = {(place + 1) % kNodes, (place + 2) % kNodes};
  const auto mask = random.next();
  switch (random.below(7)) {
    case 0:
    case 1:
      if (cluster.up(place)) {
        cluster.crash(place);
      } else {
        cluster.start(place, options);
      }
      break;
    case 2:
      if (!cluster.up(place)) break;
      cluster.leave(place);
      cluster.crash(place);
      break;
    case 3:
      if (cluster.up(place)) cluster.set_advert(place, std::to_string(random.next()));
      break;
    case 4:
      cluster.cut = [mask](std::size_t from, std::size_t to) {
        return ((mask >> from) & 1) != ((mask >> to) & 1);
      };
      break;
    case 5:
      // One way only, between any of them.
      cluster.cut = [mask](std::size_t from, std::size_t to) {
        return ((mask >> (from * kNodes + to)) & 7) == 0;
      };
      break;
    default: cluster.loss = random.unit() * 0.3; break;
  }
}

}  // namespace

TEST_CASE("whatever happens, views agree once it ends") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Cluster cluster(seed);
    Random random(seed);
    for (std::size_t place = 0; place < kNodes; ++place) {
      Cluster::Options options;
      options.seeds = {(place + 1) % kNodes, (place + 2) % kNodes};
      cluster.start(place, options);
    }
    for (auto acts = 5 + random.below(20); acts > 0; --acts) {
      cluster.run(Millis{random.between(1, 8'000)});
      disturb(cluster, random);
    }
    cluster.cut = [](auto, auto) { return false; };
    cluster.loss = 0;
    for (std::size_t place = 0; place < kNodes; ++place) {
      if (!cluster.up(place))
        cluster.start(place, Cluster::Options{true, {}, {(place + 1) % kNodes}, {}, {}});
    }
    REQUIRE(cluster.run_until(120s, [&] { return cluster.agreed(); }));
    // And stay so: nothing is left that would kill somebody later.
    for (std::size_t place = 0; place < kNodes; ++place) cluster[place].events.clear();
    cluster.run(60s);
    REQUIRE(cluster.agreed());
    REQUIRE(cluster.deaths_seen() == 0);
  }
}

TEST_CASE("mangled messages from members end no node and leave its view bounded") {
  Cluster cluster(31);
  Random random(31);
  cluster.start(0);
  for (std::size_t place = 1; place < 3; ++place) {
    Cluster::Options options;
    options.seeds = {0};
    cluster.start(place, options);
  }
  REQUIRE(cluster.run_until(5s, [&] { return cluster.agreed(); }));
  // Real messages of all kinds, as another node of the same cluster would send them.
  std::vector<Bytes> messages;
  auto& source = cluster[1];
  for (int i = 0; i < 400; ++i) {
    cluster.now += 100ms;
    source->tick(cluster.now);
    if (i % 50 == 0) source->set_advert(cluster.now, Bytes(random.below(200'000), 'a'));
    for (const auto& output : source->take_outputs()) {
      if (const auto* send = std::get_if<SendMember>(&output)) messages.push_back(send->message);
    }
  }
  auto& node = cluster[0];
  std::size_t taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    cluster.now += Millis{random.below(20)};
    Bytes message = messages[random.below(messages.size())];
    for (auto hits = 1 + random.below(3); hits > 0; --hits) {
      message[random.below(message.size())] = static_cast<char>(random.next());
    }
    const auto from = cluster[random.below(3)].id;
    if (node->receive(cluster.now, from, message)) ++taken;
    if (node->next_timer() <= cluster.now) node->tick(cluster.now);
    REQUIRE(node->next_timer() > cluster.now);
    REQUIRE(node->take_outputs().size() < 10'000);
  }
  CHECK(taken > 0);
  CHECK(node->members().front().id() == node.id);
}

TEST_CASE("the same sentences in any order give the same view") {
  Random random(11);
  const auto about = std::make_shared<const wire::Description>();
  for (int round = 0; round < 300; ++round) {
    std::vector<wire::Update> updates;
    for (int i = 0; i < 12; ++i) {
      wire::Update update;
      update.kind = static_cast<wire::UpdateKind>(random.below(5));
      update.id = NodeId::from_halves(100 + random.below(3), 1);
      update.numbers = {1, random.below(3)};
      update.by = NodeId::from_halves(200 + random.below(3), 1);
      update.advert_version = random.below(4);
      update.about = about;
      updates.push_back(update);
    }
    const auto view = [&](const std::vector<wire::Update>& told) {
      MembershipOptions options;
      options.id = NodeId::from_halves(1, 1);
      options.incarnation = 1;
      Random own(1);
      Membership membership(options, own);
      membership.start(MonoTime{1h});
      // Each subject is known before anything else is said of it, as the first alive does.
      for (std::uint64_t n = 0; n < 3; ++n) {
        wire::Update first;
        first.id = NodeId::from_halves(100 + n, 1);
        first.numbers = {1, 0};
        first.about = about;
        REQUIRE(
            membership.receive(MonoTime{1h}, first.id, wire::encode_member(wire::Gossip{{first}})));
      }
      for (const auto& update : told) {
        REQUIRE(membership.receive(MonoTime{1h}, update.by,
                                   wire::encode_member(wire::Gossip{{update}})));
      }
      std::vector<std::tuple<NodeId, MemberState, Numbers, std::uint64_t>> out;
      for (const auto& m : membership.members()) {
        out.emplace_back(m.id(), m.state, m.numbers(), m.advert_version);
      }
      return out;
    };
    const auto expected = view(updates);
    for (std::size_t i = updates.size(); i > 1; --i) {
      std::swap(updates[i - 1], updates[random.below(i)]);
    }
    REQUIRE(view(updates) == expected);
  }
}
