// The consumer's side: slots, states, completions, an owner's new life, stopping.
#include "core/job/job_intake.h"

#include <catch2/catch.hpp>
#include <set>

#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/flow/window_sender.h"
#include "core/wire/kinds.h"

namespace headrace::job {
namespace {

using namespace std::chrono_literals;

class ScriptedIntakeHost final : public IntakeHost {
 public:
  struct Sent {
    NodeId to;
    wire::Lane lane;
    Bytes message;
  };
  void send(const NodeId& to, wire::Lane lane, Bytes message) override {
    sent.push_back({to, lane, std::move(message)});
  }
  void start(ConsumerNumber, RunId run, std::shared_ptr<const HeldJob> job) override {
    started.emplace_back(run, job);
  }
  void set_stopping(RunId run) override { CHECK(stopping.insert(run).second); }  // told once

  std::vector<Sent> sent;
  std::vector<std::pair<RunId, std::shared_ptr<const HeldJob>>> started;
  std::set<RunId> stopping;
};

// One intake, and an owner whose window is real.
class IntakeWorld {
 public:
  static constexpr Incarnation kOwnerLife = 500;

  explicit IntakeWorld(unsigned parallel = 1, std::optional<Marks> marks = Marks{4, 2}) {
    number = intake.add_consumer({*TopicPattern::parse("*"), parallel, marks});
    sender.set_want(100);
    settle();
  }

  void settle() {
    for (int rounds = 0; rounds < 50; ++rounds) {
      intake.end_turn(now);
      auto outgoing = sender.collect();
      if (outgoing.announce)
        intake.on_announce(now, owner, life, {number, "default"}, *outgoing.announce);
      if (outgoing.mark) intake.on_mark(now, owner, life, {number, "default"}, *outgoing.mark);
      if (host.sent.empty() && !outgoing.announce && !outgoing.mark) return;
      for (auto& sent : std::exchange(host.sent, {})) receive(sent);
    }
    FAIL("never settles");
  }

  // Sends jobs as long as there is credit, at most `most`.
  std::size_t dispatch(std::size_t most = 100) {
    std::size_t count = 0;
    for (; count < most && sender.credit() > 0; ++count) send_one();
    settle();
    return count;
  }
  void send_one() {
    wire::JobItem item;
    item.window = {number, "default"};
    item.head = sender.take_item(++last);
    item.token = {life, last};
    item.job_number = last;
    item.topic = "work";
    intake.on_item(now, owner, life, item, "payload");
  }

  void receive(const ScriptedIntakeHost::Sent& sent) {
    if (sent.to != owner) return;
    wire::Reader in(sent.message);
    in.array(64);
    const auto kind = static_cast<wire::Kind>(in.u64());
    if (kind == wire::Kind::kWindowState) {
      wire::WindowId id;
      wire::WindowState state;
      decode(in, id);
      decode(in, state);
      REQUIRE(in.ok());
      ++states;
      if (!deaf) sender.on_state(state, handed_back);
    } else if (kind == wire::Kind::kJobDone) {
      wire::JobDone done;
      REQUIRE(decode(in, done));
      done_bytes.push_back(std::make_unique<Bytes>(sent.message));
      dones.push_back({done.token, done.end, Bytes(done.error), done.retry_after, sent.lane});
    } else if (kind == wire::Kind::kJobHandBack) {
      wire::JobHandBack back;
      REQUIRE(decode(in, back));
      for (const auto& claim : back.jobs) returned.push_back(claim.job_number);
    } else if (kind == wire::Kind::kJobClaims) {
      wire::JobClaims message;
      REQUIRE(decode(in, message));
      std::vector<std::uint64_t> numbers;
      for (const auto& claim : message.jobs) numbers.push_back(claim.job_number);
      claims.push_back(numbers);
    } else {
      FAIL("unexpected kind");
    }
  }

  void end(std::size_t i, JobEnd end = {}) {
    intake.ended(now, host.started.at(i).first, std::move(end), 1s);
    settle();
  }
  void acknowledge(const wire::Token& token, bool accepted = true) {
    wire::JobDoneAck ack;
    ack.life = token.life;
    (accepted ? ack.accepted : ack.refused).push_back(token.number);
    intake.on_done_ack(now, owner, life, ack);
    sender.end_flight({sender.session(), token.number});
    settle();
  }
  void advance(Nanos time) {
    const auto until = now.mono + time;
    while (now.mono < until) {
      now.mono += kWindowPeriod;
      now.wall += kWindowPeriod;
      if (intake.next_timer() <= now.mono) intake.tick(now);
      if (!deaf) sender.on_period();
      settle();
    }
  }
  // The owner begins a new life.
  void restart_owner() {
    ++life;
    sender = WindowSender(life);
    sender.set_want(100);
    handed_back.clear();
  }

  struct Done {
    wire::Token token;
    std::uint8_t end;
    Bytes error;
    std::optional<Millis> retry_after;
    wire::Lane lane;
  };

  Now now{MonoTime{1h}, WallTime{24h * 365 * 50}};
  ScriptedIntakeHost host;
  JobIntake intake{host, 1000};
  ConsumerNumber number = 0;
  NodeId owner = NodeId::from_halves(1, 1);
  Incarnation life = kOwnerLife;
  WindowSender sender{kOwnerLife};
  std::uint64_t last = 0;
  std::vector<std::uint64_t> handed_back;  // by the window's states
  std::vector<std::uint64_t> returned;     // by hand-back messages
  std::vector<std::vector<std::uint64_t>> claims;
  std::vector<std::unique_ptr<Bytes>> done_bytes;
  std::vector<Done> dones;
  std::size_t states = 0;
  bool deaf = false;  // the owner neither hears nor says anything
};

}  // namespace

TEST_CASE("A consumer runs as many jobs as it has slots and holds as many as its mark") {
  IntakeWorld w(2, Marks{4, 2});
  CHECK(w.dispatch() == 4);
  CHECK(w.host.started.size() == 2);
  CHECK(w.intake.occupancy(w.number) == 4);
  CHECK(w.host.started[0].second->payload == "payload");
  w.end(0);
  CHECK(w.host.started.size() == 3);
  CHECK(w.intake.occupancy(w.number) == 3);
}

TEST_CASE("Jobs start in the order in which they came") {
  IntakeWorld w;
  w.dispatch();
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(w.host.started.size() == i + 1);
    CHECK(w.host.started[i].second->number == i + 1);
    w.end(i);
  }
}

TEST_CASE("Whatever comes, a consumer never holds more than its mark") {
  IntakeWorld w(1, Marks{3, 1});
  w.dispatch();
  for (int i = 0; i < 5; ++i) {  // an owner that does not keep to its credit
    wire::JobItem item;
    item.window = {w.number, "default"};
    item.head.announce = {1000u + static_cast<unsigned>(i),
                          w.sender.session(),
                          100,
                          50u + static_cast<unsigned>(i),
                          0,
                          0,
                          false};
    item.token = {w.life, 1000u + static_cast<unsigned>(i)};
    w.intake.on_item(w.now, w.owner, w.life, item, "");
    w.intake.end_turn(w.now);
    CHECK(w.intake.occupancy(w.number) <= 3);
  }
  CHECK(w.host.started.size() == 1);
}

TEST_CASE("The states list what is held, each period, so that leases are renewed") {
  IntakeWorld w;
  w.dispatch();
  w.states = 0;
  w.advance(1s);
  CHECK(w.states >= 9);
  CHECK(w.states <= 12);
  CHECK(w.handed_back.empty());
}

TEST_CASE("At rest nothing is said") {
  IntakeWorld w;
  w.dispatch(1);
  w.end(0);
  w.acknowledge(w.dones.at(0).token);
  w.sender.set_want(0);
  w.advance(1s);
  w.states = 0;
  w.advance(60s);
  CHECK(w.states == 0);
  CHECK(w.dones.size() == 1);
}

TEST_CASE("A completion is kept and repeated, less and less often, until it is answered") {
  IntakeWorld w;
  w.dispatch(1);
  w.end(0);
  REQUIRE(w.dones.size() == 1);
  CHECK_FALSE(w.intake.idle());
  w.advance(400ms);
  CHECK(w.dones.size() == 1);
  w.advance(200ms);
  CHECK(w.dones.size() == 2);
  w.advance(60s);
  const auto many = w.dones.size();
  CHECK(many >= 12);
  CHECK(many <= 18);
  for (const auto& done : w.dones) CHECK(done.token == w.dones[0].token);
  w.acknowledge(w.dones[0].token);
  CHECK(w.intake.idle());
  w.advance(60s);
  CHECK(w.dones.size() == many);
}

TEST_CASE("A refused completion is an answer too") {
  IntakeWorld w;
  w.dispatch(1);
  w.end(0);
  w.acknowledge(w.dones.at(0).token, false);
  CHECK(w.intake.idle());
}

TEST_CASE("An answer for another token changes nothing") {
  IntakeWorld w;
  w.dispatch(1);
  w.end(0);
  w.acknowledge({w.life + 1, 1});
  w.acknowledge({w.life, 99});
  CHECK_FALSE(w.intake.idle());
}

TEST_CASE("A place is free when the handler ends, before the completion is answered") {
  IntakeWorld w(1, Marks{2, 1});
  w.dispatch();
  CHECK(w.intake.occupancy(w.number) == 2);
  w.end(0);
  CHECK(w.intake.occupancy(w.number) == 1);
  CHECK(w.dispatch() == 1);
}

TEST_CASE("Completions that wait for an owner that does not answer are bounded") {
  IntakeWorld w(1, Marks{2, 1});
  std::size_t ended = 0;
  for (int i = 0; i < 50; ++i) {
    w.dispatch();
    for (; ended < w.host.started.size(); ++ended) w.end(ended);
    w.advance(200ms);
  }
  CHECK(ended <= 4);  // twice the mark
}

TEST_CASE(
    "A large result travels on the data lane, one beyond the limit is an error that says so") {
  IntakeWorld w;
  w.dispatch(3);
  JobEnd end;
  w.end(0, end);
  CHECK(w.dones.back().lane == wire::Lane::kControl);
  end.result = Bytes(limits::kResultBytes, 'r');
  w.end(1, end);
  CHECK(w.dones.back().lane == wire::Lane::kData);
  CHECK(w.dones.back().end == static_cast<std::uint8_t>(JobEnd::Kind::kOk));
  end.result += 'r';
  w.end(2, end);
  CHECK(w.dones.back().end == static_cast<std::uint8_t>(JobEnd::Kind::kCancel));
  CHECK(w.dones.back().error.find("1048577") != std::string::npos);
}

TEST_CASE("A handler's error is cut, and its pause is brought to what the wire can carry") {
  IntakeWorld w;
  w.dispatch(3);
  w.end(0, {JobEnd::Kind::kFail, {}, std::string(limits::kErrorBytes + 1, 'e'), Millis{5}});
  CHECK(w.dones.back().error.size() == limits::kErrorBytes);
  CHECK(w.dones.back().retry_after == Millis{5});
  w.end(1, {JobEnd::Kind::kFail, {}, "", Millis{-7}});
  CHECK(w.dones.back().retry_after == Millis{0});
  w.end(2, {JobEnd::Kind::kFail, {}, "", Millis{1LL << 40}});
  CHECK(w.dones.back().retry_after == Millis{UINT32_MAX});
}

// --- Stopping.

TEST_CASE("A consumer that stops hands back what has not started, and is answered for what runs") {
  IntakeWorld w;
  w.dispatch();
  w.intake.stop_consumer(w.number);
  CHECK(w.intake.adverts().empty());
  w.settle();
  CHECK(w.returned == std::vector<std::uint64_t>{2, 3, 4});
  CHECK(w.intake.occupancy(w.number) == 1);
  w.intake.stop_consumer(w.number);  // again: nothing more
  w.settle();
  CHECK(w.returned.size() == 3);
  w.advance(5s);
  CHECK(w.sender.credit() == 0);
  CHECK(w.host.started.size() == 1);
  w.end(0);
  CHECK(w.dones.size() == 1);
  w.acknowledge(w.dones[0].token);
  CHECK(w.intake.idle());
}

TEST_CASE("What the owner took back while it was away is not started, and stopped if it runs") {
  IntakeWorld w;
  w.dispatch();
  REQUIRE(w.host.started.size() == 1);
  std::vector<std::uint64_t> back;
  w.sender.on_dead(back);
  REQUIRE(back.size() == 4);
  w.sender.on_alive();
  wire::WindowOver over{9, {{1, 1, 4}}};
  w.intake.on_over(w.now, w.owner, w.life, {w.number, "default"}, over);
  CHECK(w.host.stopping.empty());  // of another life of this node
  over.receiver = w.sender.session().receiver;
  w.intake.on_over(w.now, w.owner, w.life, {w.number, "default"}, over);
  CHECK(w.host.stopping.size() == 1);
  CHECK(w.intake.occupancy(w.number) == 1);
  w.intake.on_over(w.now, w.owner, w.life, {w.number, "default"}, over);  // again: nothing more
  w.end(0);
  CHECK(w.host.started.size() == 1);
  CHECK(w.dones.empty());
  CHECK(w.intake.occupancy(w.number) == 0);
  CHECK(w.intake.idle());
}

TEST_CASE("A run that was handed over and never began goes back like one that waited") {
  IntakeWorld w;
  w.dispatch();
  REQUIRE(w.host.started.size() == 1);
  w.intake.stop_consumer(w.number);
  w.intake.not_started({w.host.started[0].first});
  w.settle();
  CHECK(w.returned == std::vector<std::uint64_t>{2, 3, 4, 1});
  CHECK(w.intake.occupancy(w.number) == 0);
  CHECK(w.intake.idle());
  CHECK(w.dones.empty());
}

TEST_CASE("A job for a handler that never was goes back") {
  IntakeWorld w;
  wire::JobItem item;
  item.window = {77, "default"};
  item.token = {w.life, 5};
  item.job_number = 5;
  w.intake.on_item(w.now, w.owner, w.life, item, "");
  w.settle();
  CHECK(w.returned == std::vector<std::uint64_t>{5});
}

// --- Owners that fall silent, restart, or are gone.

TEST_CASE(
    "A handler is told to stop when its owner was silent for 0.8 of the lease, once and not "
    "before") {
  IntakeWorld w;
  w.dispatch(1);
  w.advance(60s);
  CHECK(w.host.stopping.empty());
  w.deaf = true;
  w.sender = WindowSender(w.life);  // says nothing
  w.advance(kLease * 8 / 10 - 500ms);
  CHECK(w.host.stopping.empty());
  w.advance(1s);
  CHECK(w.host.stopping.size() == 1);
  w.advance(10s);
}

TEST_CASE("A node that stood still itself blames nobody's silence") {
  IntakeWorld w;
  w.dispatch(1);
  w.now.mono += 60s;
  w.intake.held_up(60s);
  w.intake.tick(w.now);
  CHECK(w.host.stopping.empty());
}

TEST_CASE(
    "A new life of the owner is told what runs and what ended, and nothing that has not started") {
  IntakeWorld w(2, Marks{6, 3});
  w.dispatch();
  REQUIRE(w.host.started.size() == 2);
  w.end(0);  // a third starts
  w.dones.clear();
  w.restart_owner();
  w.settle();
  REQUIRE_FALSE(w.claims.empty());
  CHECK(w.claims.back() == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(w.intake.occupancy(w.number) == 2);  // the rest was dropped
  w.advance(5s);
  CHECK(w.claims.size() >= 4);  // the list renews the leases
  CHECK(w.claims.size() <= 7);
  CHECK_FALSE(w.dones.empty());  // the completion is repeated to the new life
  // The owner knows all of them; the completion is answered.
  w.intake.on_claims_ack(w.now, w.owner, w.life, {});
  w.acknowledge({IntakeWorld::kOwnerLife, 1});
  w.advance(2s);
  CHECK(w.claims.back() == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("A claim that is refused stops its handler, and its end is told to nobody") {
  IntakeWorld w;
  w.dispatch(1);
  w.restart_owner();
  w.settle();
  const auto claims = w.claims.size();
  REQUIRE(claims >= 1);
  w.intake.on_claims_ack(w.now, w.owner, w.life, {{{1, {IntakeWorld::kOwnerLife, 1}}}});
  CHECK(w.host.stopping.size() == 1);
  w.advance(5s);
  CHECK(w.claims.size() == claims);  // nothing is left to claim
  w.end(0);
  w.advance(5s);
  CHECK(w.dones.empty());
  CHECK(w.intake.idle());
  CHECK(w.intake.occupancy(w.number) == 0);
}

TEST_CASE("An owner's new life hears of it when nothing of it is here, until it has answered") {
  IntakeWorld w;
  w.restart_owner();
  w.settle();
  REQUIRE(w.claims.size() == 1);
  CHECK(w.claims[0].empty());
  w.intake.on_claims_ack(w.now, w.owner, w.life, {});
  w.sender.set_want(0);
  w.advance(10s);
  CHECK(w.claims.size() == 1);
}

TEST_CASE("A node that was never heard as an owner is told nothing when it restarts") {
  IntakeWorld w;
  const auto other = NodeId::from_halves(8, 8);
  w.intake.on_incarnation(other, 9);
  w.intake.end_turn(w.now);
  CHECK(w.host.sent.empty());
}

TEST_CASE("A dead owner's waiting jobs are dropped, its running ones end and are kept for it") {
  IntakeWorld w;
  w.dispatch();
  w.deaf = true;
  w.sender = WindowSender(w.life);
  w.intake.on_dead(w.owner);
  w.intake.end_turn(w.now);
  CHECK(w.intake.occupancy(w.number) == 1);
  w.end(0);
  CHECK(w.host.started.size() == 1);
  CHECK_FALSE(w.intake.idle());
}

TEST_CASE(
    "When an owner is forgotten nothing is kept for it, and what runs of it is told to stop") {
  IntakeWorld w(2, Marks{4, 2});
  w.dispatch();
  w.end(0);
  w.deaf = true;
  w.sender = WindowSender(w.life);
  w.intake.forget(w.owner);
  w.intake.end_turn(w.now);
  CHECK(w.host.stopping.size() == w.intake.running());
  const auto running = w.intake.running();
  for (std::size_t i = w.host.started.size() - running; i < w.host.started.size(); ++i) w.end(i);
  CHECK(w.intake.idle());
  CHECK(w.intake.occupancy(w.number) == 0);
}

TEST_CASE("Mail of an owner's earlier life is not taken in") {
  IntakeWorld w;
  w.dispatch(1);
  const auto life = w.life;
  w.restart_owner();
  w.settle();
  wire::JobItem item;
  item.window = {w.number, "default"};
  item.head.announce = {1000, {1000, 1}, 4, 2, 0, 0, false};
  item.token = {life, 2};
  w.intake.on_item(w.now, w.owner, life, item, "");
  w.intake.end_turn(w.now);
  CHECK(w.intake.occupancy(w.number) == 1);
}

}  // namespace headrace::job
