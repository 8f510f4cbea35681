#include "nodes/client/client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "core/value/value_codec.h"
#include "fake_node.h"

using namespace headrace;
using headrace::test::FakeNode;
using headrace::test::kDeadline;
using headrace::test::SeenCall;
using wire::Kind;

namespace {

void answer_all(FakeNode& node, const SeenCall& call) { node.reply(call); }
void answer_none(FakeNode&, const SeenCall&) {}

Client connect_to(const FakeNode& node) {
  auto client = Client::connect({.endpoint = node.endpoint(), .timeout = kDeadline});
  INFO((client ? std::string() : client.error().message));
  REQUIRE(client.has_value());
  return std::move(*client);
}

Bytes info_body(const JobId& id, JobState state) {
  JobInfo info;
  info.id = id;
  info.topic = "a.b";
  info.state = state;
  return job::encode_infos({info});
}

}  // namespace

TEST_CASE("connecting to an address where nobody listens says how to start a node there") {
  std::string endpoint;
  {
    FakeNode node({}, answer_none);
    endpoint = node.endpoint();
  }
  const auto client = Client::connect({.endpoint = endpoint});
  REQUIRE_FALSE(client.has_value());
  CHECK(client.error().code == Code::kUnreachable);
  CHECK_THAT(client.error().message, Catch::Contains("headrace node --listen " + endpoint));
}

TEST_CASE("a node that says nothing is unreachable once the time is over") {
  FakeNode node({.says_hello = false}, answer_none);
  const auto client = Client::connect({.endpoint = node.endpoint(), .timeout = Millis{200}});
  REQUIRE_FALSE(client.has_value());
  CHECK(client.error().code == Code::kUnreachable);
}

TEST_CASE("a client finds out about a node's cluster, and refuses another than it was told") {
  FakeNode node({.cluster = "mill"}, answer_all);
  CHECK(connect_to(node).node() == node.id());
  CHECK(Client::connect({.endpoint = node.endpoint(), .cluster = "mill"}).has_value());
  const auto other = Client::connect({.endpoint = node.endpoint(), .cluster = "default"});
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == Code::kForbidden);
}

TEST_CASE("an add brings the whole job to the data lane and returns its id") {
  FakeNode node({}, answer_all);
  auto client = connect_to(node);
  JobSpec spec{.topic = "a.b", .params = {{"size", 12}}, .payload = "bulk", .priority = 9};
  spec.level = Level::kOs;
  const auto id = client.add(spec, kDeadline);
  REQUIRE(id.has_value());
  const auto seen = node.seen(Kind::kCallAddJobs);
  REQUIRE_FALSE(seen.empty());
  CHECK(seen[0].lane == wire::Lane::kData);
  CHECK(seen[0].receiver == node.id());
  const auto call = seen[0].as<wire::CallAddJobs>();
  CHECK_FALSE(call.repeat);
  REQUIRE(call.jobs.size() == 1);
  CHECK(call.jobs[0].id == *id);
  CHECK(call.jobs[0].topic == "a.b");
  CHECK(call.jobs[0].priority == 9);
  CHECK(call.jobs[0].level == static_cast<std::uint8_t>(Level::kOs));
  CHECK(decode_params(call.jobs[0].params).value() == spec.params);
  CHECK(call.jobs[0].payload.inlined == "bulk");
}

TEST_CASE("jobs that break a rule are refused before anything is sent") {
  FakeNode node({}, answer_all);
  auto client = connect_to(node);
  const auto code = [&](JobSpec spec) {
    return client.add(std::move(spec), kDeadline).error().code;
  };
  CHECK(code({.topic = "a..b"}) == Code::kInvalid);
  CHECK(code({.topic = "a", .priority = 10}) == Code::kInvalid);
  CHECK(code({.topic = "a", .priority = 256 + 4}) == Code::kInvalid);
  CHECK(code({.topic = "a", .priority = -1}) == Code::kInvalid);
  CHECK(code({.topic = "a", .payload = Bytes(limits::kJobPayloadBytes + 1, 'x')}) ==
        Code::kInvalid);
  CHECK(client.publish("a b").error().code == Code::kInvalid);
  CHECK(client.subscribe("a.>.b").error().code == Code::kInvalid);
  CHECK(node.seen(Kind::kCallAddJobs).empty());
}

TEST_CASE("an unanswered add is repeated as the same job, and marked as a repeat") {
  FakeNode node({}, [](FakeNode& self, const SeenCall& call) {
    if (self.seen(Kind::kCallAddJobs).size() >= 2) self.reply(call);
  });
  auto client = connect_to(node);
  const auto id = client.add({.topic = "a"}, kDeadline);
  REQUIRE(id.has_value());
  const auto seen = node.seen(Kind::kCallAddJobs);
  REQUIRE(seen.size() >= 2);
  CHECK_FALSE(seen[0].as<wire::CallAddJobs>().repeat);
  CHECK(seen[1].as<wire::CallAddJobs>().repeat);
  CHECK(seen[1].as<wire::CallAddJobs>().jobs[0].id == *id);
  CHECK(seen[1].call == seen[0].call);
}

TEST_CASE("an add with an id of the caller's is looked up from the first") {
  FakeNode node({}, answer_all);
  auto client = connect_to(node);
  const auto id = JobId::from_halves(1, 2);
  CHECK(client.add({.topic = "a", .id = id}, kDeadline) == id);
  CHECK(node.seen(Kind::kCallAddJobs)[0].as<wire::CallAddJobs>().repeat);
}

TEST_CASE("the outcome of an add that stays unanswered is unknown, and names the job") {
  FakeNode node({}, answer_none);
  auto client = connect_to(node);
  const auto id = JobId::from_halves(1, 2);
  const auto added = client.add({.topic = "a", .id = id}, Millis{50});
  REQUIRE_FALSE(added.has_value());
  CHECK(added.error().code == Code::kOutcomeUnknown);
  CHECK_THAT(added.error().message, Catch::Contains(id.hex()));
  CHECK(client.get(id, Millis{50}).error().code == Code::kTimeout);
  CHECK(client.publish("a", {}, {}, Millis{0}).error().code == Code::kOutcomeUnknown);
  CHECK(node.seen(Kind::kCallPublish).size() == 1);
}

TEST_CASE("payloads and answers too large for a message cross in pieces") {
  const Bytes payload(3 * limits::kChunkBytes + 17, 'p');
  const auto id = JobId::from_halves(1, 2);
  JobInfo info;
  info.id = id;
  info.result = Value(Blob{Bytes(limits::kChunkBytes + 9, 'r')});
  FakeNode node({}, [&](FakeNode& self, const SeenCall& call) {
    if (call.kind == Kind::kCallAddJobs) return self.reply(call);
    const auto body = job::encode_infos({info});
    wire::cut_blob(5, body, limits::kChunkBytes,
                   [&](const Bytes& piece) { self.send_bytes(call.from, piece); });
    self.send(call.from, wire::Reply{call.call, 0, {}, {{}, 5}});
  });
  auto client = connect_to(node);
  REQUIRE(client.add({.topic = "a", .payload = payload}, kDeadline).has_value());
  const auto call = node.seen(Kind::kCallAddJobs)[0].as<wire::CallAddJobs>();
  REQUIRE(call.jobs[0].payload.blob != 0);
  CHECK(node.blob(call.jobs[0].payload.blob) == payload);
  CHECK(client.get(id, kDeadline).value().result == info.result);
}

TEST_CASE("what the node answers reaches the caller: rows, numbers, errors") {
  FakeNode node({}, [](FakeNode& self, const SeenCall& call) {
    if (call.kind == Kind::kCallGetJob) return self.refuse(call, Code::kNotFound, "no such job");
    if (call.kind == Kind::kCallPublish) {
      return self.reply(call, encode_body(wire::PublishedBody{EventId::from_halves(3, 4), 5, 6}));
    }
    self.reply(call, encode_body(std::vector<wire::MemberRow>{{NodeId::from_halves(1, 1),
                                                               "ann",
                                                               "alive",
                                                               "tcp://h:1",
                                                               9,
                                                               {{"k", "v"}},
                                                               "tcp://h:2",
                                                               3,
                                                               Millis{5000},
                                                               Micros{250}}}));
  });
  auto client = connect_to(node);
  CHECK(client.get(JobId{}, kDeadline).error() == Error{Code::kNotFound, "no such job"});
  const auto published = client.publish("a", {}, {}, Millis{100}).value();
  CHECK(published.id == EventId::from_halves(3, 4));
  CHECK(published.destinations == 5);
  CHECK(published.dropped == 6);
  const auto members = client.members(kDeadline).value();
  REQUIRE(members.size() == 1);
  CHECK(members[0].name == "ann");
  CHECK(members[0].tags == std::map<std::string, std::string>{{"k", "v"}});
  CHECK(members[0].data_endpoint == "tcp://h:2");
  CHECK(members[0].advert_version == 3);
  CHECK(members[0].round_trip == Micros{250});
  const auto age = std::chrono::system_clock::now() - members[0].since;
  CHECK(age >= Millis{5000});
  CHECK(age < Millis{5000} + kDeadline);
}

TEST_CASE("pipelined adds arrive in order, and each is answered once") {
  constexpr std::uint64_t kCount = 3 * limits::kClientCalls;
  FakeNode node({}, answer_all);
  auto client = connect_to(node);
  std::atomic<std::uint64_t> done{0};
  for (std::uint64_t i = 1; i <= kCount; ++i) {
    JobSpec spec{.topic = "a", .id = JobId::from_halves(1, i)};
    const auto sent = client.add_async(
        spec, [&](const Result<JobId>& id) { done += id.has_value(); }, kDeadline);
    REQUIRE(sent.has_value());
  }
  REQUIRE(client.add({.topic = "last"}, kDeadline).has_value());
  CHECK(done == kCount);
  std::uint64_t arrived = 0;  // repeats left out: a slow machine may see some
  for (const auto& call : node.seen(Kind::kCallAddJobs)) {
    const auto id = call.as<wire::CallAddJobs>().jobs[0].id;
    if (id == JobId::from_halves(1, arrived + 1)) ++arrived;
  }
  CHECK(arrived == kCount);
}

TEST_CASE("when the node comes back in a new life, open adds and subscriptions are asked again") {
  auto first =
      std::make_unique<FakeNode>(FakeNode::Options{}, [](FakeNode& self, const SeenCall& call) {
        if (call.kind == Kind::kCallSubscribe) self.reply(call);
      });
  const auto port = first->port();
  auto client = connect_to(*first);
  auto events = client.subscribe("a", {}, kDeadline);
  REQUIRE(events.has_value());
  std::promise<Result<JobId>> added;
  REQUIRE(client.add_async(
      {.topic = "a"}, [&](Result<JobId> id) { added.set_value(id); }, kDeadline));
  REQUIRE(first->wait_for(Kind::kCallAddJobs, 1));
  first.reset();

  FakeNode second({.incarnation = 2, .port = port}, answer_all);
  auto answer = added.get_future();
  REQUIRE(answer.wait_for(kDeadline) == std::future_status::ready);
  const auto id = answer.get();
  INFO((id ? std::string() : id.error().message));
  REQUIRE(id.has_value());
  const auto call = second.seen(Kind::kCallAddJobs).at(0).as<wire::CallAddJobs>();
  CHECK(call.repeat);
  CHECK(call.jobs[0].id == *id);
  REQUIRE(second.wait_for(Kind::kCallSubscribe, 1));
  CHECK(second.seen(Kind::kCallSubscribe)[0].as<wire::CallSubscribe>().topic == "a");
}

TEST_CASE("a publish under way when the connection breaks is not repeated, and known as unknown") {
  auto first = std::make_unique<FakeNode>(FakeNode::Options{}, answer_none);
  const auto port = first->port();
  auto client = connect_to(*first);
  auto published =
      std::async(std::launch::async, [&] { return client.publish("a", {}, {}, Millis{600'000}); });
  REQUIRE(first->wait_for(Kind::kCallPublish, 1));
  first.reset();
  REQUIRE(published.wait_for(kDeadline) == std::future_status::ready);
  CHECK(published.get().error().code == Code::kOutcomeUnknown);
  FakeNode second({.incarnation = 2, .port = port}, answer_all);
  REQUIRE(client.add({.topic = "a"}, kDeadline).has_value());
  CHECK(second.seen(Kind::kCallPublish).empty());
}

TEST_CASE("an add sent to a node whose address another takes over is not repeated to that other") {
  auto first = std::make_unique<FakeNode>(FakeNode::Options{.id = 1}, answer_none);
  const auto port = first->port();
  auto client = connect_to(*first);
  auto added =
      std::async(std::launch::async, [&] { return client.add({.topic = "a"}, kDeadline); });
  REQUIRE(first->wait_for(Kind::kCallAddJobs, 1));
  first.reset();
  FakeNode other({.id = 2, .port = port}, answer_all);
  REQUIRE(added.wait_for(kDeadline) == std::future_status::ready);
  CHECK(added.get().error().code == Code::kOutcomeUnknown);
  CHECK(other.seen(Kind::kCallAddJobs).empty());
}

TEST_CASE("a subscription hands out its events in order and tells the node when it ends") {
  FakeNode node({}, [](FakeNode& self, const SeenCall& call) {
    self.reply(call);
    if (call.kind != Kind::kCallSubscribe) return;
    const auto subscription = call.as<wire::CallSubscribe>().subscription;
    const auto params = encode(ParamSet{{"size", 12}}).value();
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
      self.send(call.from, wire::ClientEvent{subscription,
                                             self.id(),
                                             EventId::from_halves(1, seq),
                                             {},
                                             seq,
                                             "a.b",
                                             params,
                                             {"bulk", 0}});
    }
  });
  auto client = connect_to(node);
  {
    auto events = client.subscribe("a.*", {.sink = true}, kDeadline);
    REQUIRE(events.has_value());
    CHECK(node.seen(Kind::kCallSubscribe)[0].as<wire::CallSubscribe>().sink);
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
      const auto event = events->next(kDeadline).value();
      REQUIRE(event.has_value());
      CHECK(event->seq == seq);
      CHECK(event->topic == "a.b");
      CHECK(event->params.get<int>("size") == 12);
      CHECK(event->payload == "bulk");
      CHECK(event->node == node.id());
    }
    CHECK_FALSE(events->next(Millis{0}).value().has_value());
    CHECK(events->dropped() == 0);
  }
  CHECK(node.wait_for(Kind::kCallUnsubscribe, 1));
  CHECK(node.wait_for(Kind::kCallSubscribe, 1));
}

TEST_CASE("a client with a subscription says each second that it is alive") {
  FakeNode node({}, answer_all);
  auto client = connect_to(node);
  auto events = client.subscribe("a", {}, kDeadline);
  REQUIRE(events.has_value());
  CHECK(node.wait_for(Kind::kClientAlive, 2));
}

TEST_CASE("waiting for a job asks until it has ended") {
  const auto id = JobId::from_halves(1, 2);
  FakeNode node({}, [&](FakeNode& self, const SeenCall& call) {
    const bool third = self.seen(Kind::kCallWaitJob).size() >= 3;
    self.reply(call, info_body(id, third ? JobState::kGivenUp : JobState::kActive));
  });
  auto client = connect_to(node);
  CHECK(client.wait(id).value().state == JobState::kGivenUp);
  CHECK(node.seen(Kind::kCallWaitJob).size() >= 3);
}

TEST_CASE("waiting for a job ends when the time is over") {
  FakeNode node({}, [](FakeNode& self, const SeenCall& call) {
    self.reply(call, info_body(call.as<wire::CallWaitJob>().id, JobState::kActive));
  });
  auto client = connect_to(node);
  const auto again = client.wait(JobId::from_halves(1, 2), Millis{0});
  REQUIRE_FALSE(again.has_value());
  CHECK(again.error().code == Code::kTimeout);
}

TEST_CASE("a closed client ends what is under way: adds as unknown, the rest as closed") {
  FakeNode node({}, [](FakeNode& self, const SeenCall& call) {
    if (call.kind == Kind::kCallSubscribe) self.reply(call);
  });
  std::optional<Client> client = connect_to(node);
  auto events = client->subscribe("a", {}, kDeadline);
  REQUIRE(events.has_value());
  std::promise<Result<JobId>> added;
  REQUIRE(client->add_async(
      {.topic = "a"}, [&](Result<JobId> id) { added.set_value(id); }, kDeadline));
  auto info = std::async(std::launch::async, [&] { return client->get(JobId{}, kDeadline); });
  REQUIRE(node.wait_for(Kind::kCallGetJob, 1));
  client.reset();
  CHECK(added.get_future().get().error().code == Code::kOutcomeUnknown);
  CHECK(info.get().error().code == Code::kClosed);
  CHECK(events->next(kDeadline).error().code == Code::kClosed);
}
