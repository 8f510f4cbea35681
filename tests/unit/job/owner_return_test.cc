// How a dispatch ends without an outcome: handed back, taken back, claimed or not.
#include <set>

#include "core/base/limits.h"
#include "tests/unit/job/owner_world.h"

namespace headrace::job {

using keys::Space;
using namespace std::chrono_literals;

namespace {

wire::JobClaim claim_of(const Arrived& job) { return {job.item.job_number, job.item.token}; }

void hand_back(OwnerWorld& w, const TestConsumer& from, std::vector<wire::JobClaim> claims) {
  w.owner->on_hand_back(w.now, from.node, {std::move(claims)});
  w.settle();
}

void claim(OwnerWorld& w, const TestConsumer& from, Incarnation life,
           std::vector<wire::JobClaim> claims) {
  w.owner->on_claims(w.now, from.node, life, {std::move(claims)});
  w.settle();
}

}  // namespace

TEST_CASE("A job that is handed back goes to another consumer, uncharged, under a new token") {
  OwnerWorld w;
  auto& first = w.consumer(2, "*", {1, 0});
  const auto id = w.add(spec());
  REQUIRE(first.held.size() == 1);
  const auto claim = claim_of(first.job());
  first.window.hand_back({w.self, "default"}, first.job().item.head.id());
  first.window.stop();
  auto& second = w.consumer(3);
  hand_back(w, first, {claim});
  REQUIRE(second.held.size() == 1);
  CHECK(second.job().item.id == id);
  CHECK(second.job().item.deliveries == 1);
  CHECK(second.job().item.token != claim.token);
  CHECK(w.info(id)->deliveries == 1);
  CHECK(w.owner->counts().taken_back == 1);
}

TEST_CASE("A hand-back counts from the node that has the job, with its token, and once") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto& other = w.consumer(3, "other");
  const auto id = w.add(spec());
  const auto claim = claim_of(consumer.job());
  hand_back(w, other, {claim});
  hand_back(w, consumer,
            {{claim.job_number, {claim.token.life, claim.token.number + 1}}, {12345, claim.token}});
  CHECK(w.state(id) == JobState::kActive);
  CHECK(w.owner->counts().taken_back == 0);
  hand_back(w, consumer, {claim, claim});
  CHECK(w.owner->counts().taken_back == 1);
}

TEST_CASE("A job that the consumer's state does not list comes back uncharged and runs again") {
  OwnerWorld w;
  auto& first = w.consumer(2, "*", {1, 0});
  const auto id = w.add(spec());
  first.window.hand_back({w.self, "default"}, first.job().item.head.id());
  first.held.clear();
  w.settle();
  REQUIRE(first.history.size() == 2);  // it went out again at once
  CHECK(first.history.back().id == id);
  CHECK(first.history.back().deliveries == 1);
  CHECK(first.history.back().token != first.history.front().token);
}

TEST_CASE("A consumer that is dead loses its jobs to others; its late completion is refused") {
  OwnerWorld w;
  auto& first = w.consumer(2);
  const auto id = w.add(spec());
  auto& second = w.consumer(3);
  first.deaf = true;
  w.owner->on_dead(w.now, first.node);
  w.settle();
  REQUIRE(second.held.size() == 1);
  CHECK(second.job().item.deliveries == 2);
  first.deaf = false;
  const auto late = w.finish(first);
  CHECK_FALSE(first.answers.at(late.token));
  CHECK(w.state(id) == JobState::kActive);
  w.finish(second);
  CHECK(w.state(id) == JobState::kSucceeded);
  CHECK(w.host.ends.size() == 1);
}

TEST_CASE("A consumer that was dead by mistake gets jobs again once it is alive") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.owner->on_dead(w.now, consumer.node);
  const auto id = w.add(spec());
  CHECK(w.state(id) == JobState::kQueued);
  w.owner->on_alive(consumer.node);
  w.settle();
  CHECK(w.state(id) == JobState::kActive);
}

TEST_CASE("A new life of the consumer ends what the old one held") {
  OwnerWorld w;
  auto& first = w.consumer(2);
  const auto id = w.add(spec());
  const auto old = claim_of(first.job());
  w.owner->on_restarted(w.now, first.node, first.life + 1);
  w.settle();
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);  // charged
  first.deaf = true;
  auto& again = w.consumer(4);
  REQUIRE(again.held.size() == 1);
  CHECK(again.job().item.token != old.token);
  CHECK(again.job().item.deliveries == 2);
}

TEST_CASE("A consumer that falls silent loses its jobs when the lease is over, not before") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.advance(60s);  // renewed by the states of its window
  CHECK(w.state(id) == JobState::kActive);
  CHECK(consumer.history.size() == 1);
  consumer.deaf = true;
  w.advance(kLease - 1s);
  CHECK(w.state(id) == JobState::kActive);
  w.advance(2s);
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);
  w.advance(100s);
  CHECK(w.state(id) == JobState::kQueued);  // nothing more for who says nothing
  consumer.deaf = false;
  consumer.window.on_dead(w.self);  // it has given up too: the owner asks, however long it takes
  consumer.held.clear();
  w.advance(2s);
  CHECK(w.state(id) == JobState::kActive);
  CHECK(consumer.history.size() == 2);
}

TEST_CASE("A lease begins with its job, however long the consumer had nothing to say") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  w.finish(consumer);
  w.advance(2 * kLease);  // at rest
  const auto id = w.add(spec());
  consumer.deaf = true;
  w.advance(kLease - 1s);
  CHECK(w.state(id) == JobState::kActive);
  w.advance(2s);
  CHECK(w.state(id) == JobState::kQueued);
}

TEST_CASE("No lease runs out for the time in which the owner itself stood still") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  consumer.deaf = true;
  w.advance(10s);
  w.now.mono += 60s;
  w.owner->held_up(60s);
  w.advance(kLease - 12s);
  CHECK(w.state(id) == JobState::kActive);
  w.advance(4s);
  CHECK(w.state(id) == JobState::kQueued);
}

TEST_CASE("A job is given up after kDeliveries dispatches of which nobody said how they ended") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "*", {1, 0});
  const auto id = w.add(spec());
  for (unsigned i = 1; i <= limits::kDeliveries; ++i) {
    INFO(i);
    REQUIRE(w.state(id) == JobState::kActive);
    REQUIRE(w.info(id)->deliveries == i);
    w.owner->on_dead(w.now, consumer.node);
    w.settle();
    consumer.window.on_dead(w.self);
    consumer.held.clear();
    w.owner->on_alive(consumer.node);
    w.settle();
    w.advance(1s);
  }
  const auto info = *w.info(id);
  CHECK(info.state == JobState::kGivenUp);
  CHECK(info.error.find("20 times") != std::string::npos);
  CHECK(w.rows(Space::kActive) == 0);
  CHECK(w.rows(Space::kReady) == 0);
}

// --- The owner's own restart.

TEST_CASE(
    "After its restart an owner leaves recorded dispatches with who claims them, and takes their "
    "completion") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto kept = w.add(spec());
  const auto claimed = claim_of(consumer.job());
  w.reopen();
  w.advertise(consumer);
  w.settle();
  CHECK(w.state(kept) == JobState::kActive);
  claim(w, consumer, consumer.life, {claimed});
  CHECK(consumer.claims_answered == 1);
  CHECK(consumer.claims_refused.empty());
  for (int i = 0; i < 6; ++i) {  // claims renew the lease
    w.advance(kLease / 3);
    claim(w, consumer, consumer.life, {claimed});
  }
  CHECK(w.state(kept) == JobState::kActive);
  CHECK(consumer.history.size() == 1);
  wire::JobDone done;
  done.token = claimed.token;
  done.job_number = claimed.job_number;
  w.done(consumer, done);
  CHECK(consumer.answers.at(done.token));
  CHECK(w.state(kept) == JobState::kSucceeded);
  CHECK(w.info(kept)->deliveries == 1);
}

TEST_CASE(
    "What a consumer of the same life does not claim was never there: back, uncharged, and run "
    "once") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "*", {2, 0});
  const auto held = w.add(spec());
  const auto lost = w.add(spec());
  const auto claimed = claim_of(consumer.job(0));
  w.reopen();
  consumer.held.clear();
  w.advertise(consumer);
  w.settle();
  claim(w, consumer, consumer.life, {claimed});
  CHECK(w.state(held) == JobState::kActive);
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.id == lost);
  CHECK(consumer.job().item.deliveries == 1);
}

TEST_CASE("A list of claims speaks for its range of numbers alone") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto first = w.add(spec());
  const auto second = w.add(spec());
  const auto number = consumer.job(1).item.job_number;
  w.reopen();
  w.owner->on_claims(w.now, consumer.node, consumer.life, {{}, number, UINT64_MAX});
  w.settle();
  CHECK(w.state(first) == JobState::kActive);
  CHECK(w.state(second) == JobState::kQueued);
  w.owner->on_claims(w.now, consumer.node, consumer.life, {{}, 0, number - 1});
  w.settle();
  CHECK(w.state(first) == JobState::kQueued);
}

TEST_CASE("A consumer's later life can't know what became of them: back, charged") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.reopen();
  claim(w, consumer, consumer.life + 1, {});
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);
  CHECK(consumer.claims_answered == 1);
}

TEST_CASE("Recorded dispatches come back when their node shows in a new life, or is dead") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.reopen();
  SECTION("new life") { w.owner->on_restarted(w.now, consumer.node, consumer.life + 1); }
  SECTION("dead") { w.owner->on_dead(w.now, consumer.node); }
  w.settle();
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);
}

TEST_CASE("Recorded dispatches that nobody claims come back after a whole lease from the open") {
  OwnerWorld w;
  w.consumer(2);
  const auto id = w.add(spec());
  w.advance(20s);
  w.reopen();
  w.advance(kLease - 1s);
  CHECK(w.state(id) == JobState::kActive);
  w.advance(2s);
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);
}

TEST_CASE("What the owner ran itself ended with it: charged, and run again after its restart") {
  OwnerWorld w;
  auto& own = w.consumer(1);  // the owner's own node
  REQUIRE(own.node == w.self);
  const auto id = w.add(spec());
  REQUIRE(own.held.size() == 1);
  w.reopen();
  w.settle();
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.info(id)->deliveries == 1);
  CHECK(w.rows(Space::kReady) == 1);
  CHECK(w.rows(Space::kActive) == 0);
  auto& other = w.consumer(3);
  REQUIRE(other.held.size() == 1);
  CHECK(other.job().item.deliveries == 2);
}

TEST_CASE("Claims with tokens that are not current are refused by name") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  auto stale = claim_of(consumer.job());
  w.finish(consumer);
  w.reopen();
  claim(w, consumer, consumer.life, {stale, {999, {5, 5}}});
  REQUIRE(consumer.claims_refused.size() == 2);
  CHECK(consumer.claims_refused[0].token == stale.token);
  CHECK(consumer.claims_refused[1].job_number == 999);
}

// What came back under a new number must not be met again on disk.
TEST_CASE(
    "A job that came back after a restart is handed out once, whatever else waits in its lane") {
  OwnerWorld w;
  auto& first = w.consumer(2, "*", {2, 0});
  const auto one = w.add(spec());
  const auto two = w.add(spec());
  const bool others_wait = GENERATE(false, true);
  std::set<JobId> all{one, two};
  if (others_wait) {
    for (int i = 0; i < 10; ++i) all.insert(w.add(spec()));
  }
  w.reopen();
  first.deaf = true;
  w.owner->on_restarted(w.now, first.node, first.life + 1);
  w.settle();
  auto delayed = spec();
  delayed.not_before = w.now.wall + 1s;
  all.insert(w.add(delayed));
  w.advance(2s);  // comes to its lane on disk, so that the lane is read
  auto& second = w.consumer(3, "*", {1, 0});
  std::vector<JobId> ran;
  for (int i = 0; i < 40 && !second.held.empty(); ++i) {
    ran.push_back(second.job().item.id);
    w.finish(second);
  }
  CHECK(ran.size() == all.size());
  CHECK(std::set<JobId>(ran.begin(), ran.end()) == all);
}

TEST_CASE(
    "A job in its record damaged does not keep the store from opening: it is told and passed "
    "over") {
  OwnerWorld w;
  w.consumer(2);
  const auto bad = w.add(spec());
  const auto good = w.add(spec());
  WriteBatch batch;
  batch.put(keys::job(bad.low()), "not a record");
  REQUIRE(w.store.write(batch, false));
  w.reopen();
  CHECK_FALSE(w.host.notes.empty());
  CHECK(w.state(good) == JobState::kActive);
}

// --- Consumers that come and go.

TEST_CASE("A latecomer gets work at once, beyond what the first has room for") {
  OwnerWorld w;
  auto& first = w.consumer(2, "*", {2, 0});
  for (int i = 0; i < 6; ++i) w.add(spec());
  CHECK(first.held.size() == 2);
  auto& second = w.consumer(3, "*", {3, 1});
  CHECK(first.held.size() == 2);
  CHECK(second.held.size() == 3);
}

TEST_CASE("No consumer holds more than its mark, whatever waits") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "*", {7, 2});
  w.add_many(std::vector<NewJob>(100, spec()));
  CHECK(consumer.held.size() == 7);
  CHECK(consumer.window.occupancy() == 7);
  w.advance(10s);
  CHECK(consumer.held.size() == 7);
}

TEST_CASE(
    "A consumer that stops keeps what it runs: its completion counts, and it gets nothing more") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "*", {1, 0});
  const auto running = w.add(spec());
  const auto waiting = w.add(spec());
  consumer.window.stop();
  w.owner->set_consumers(w.now, consumer.node, consumer.life, {});  // no longer in the advert
  w.settle();
  CHECK(w.state(running) == JobState::kActive);
  auto& other = w.consumer(3, "*", {4, 1});
  REQUIRE(other.held.size() == 1);
  CHECK(other.job().item.id == waiting);
  w.advance(2 * kLease);  // its states still renew the lease
  CHECK(w.state(running) == JobState::kActive);
  const auto done = w.finish(consumer);
  CHECK(consumer.answers.at(done.token));
  CHECK(w.state(running) == JobState::kSucceeded);
  CHECK(w.info(running)->deliveries == 1);
  w.finish(other);
  w.advance(1s);
  CHECK_FALSE(consumer.window.period_needed());  // at rest nobody says anything
  CHECK(w.owner->next_timer(w.now) > w.now.mono + 1s);
}

TEST_CASE("A consumer that stopped and then fell silent loses its jobs like any other") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "*", {1, 0});
  const auto id = w.add(spec());
  w.owner->set_consumers(w.now, consumer.node, consumer.life, {});
  consumer.deaf = true;
  w.advance(kLease + 1s);
  CHECK(w.state(id) == JobState::kQueued);
}

TEST_CASE("A node that is forgotten leaves nothing behind, and what it held goes on") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.owner->forget(w.now, consumer.node);
  w.settle();
  CHECK(w.state(id) == JobState::kQueued);
  w.add(spec());
  CHECK(consumer.history.size() == 1);
}

TEST_CASE("A consumer of a topic gets no job of another") {
  OwnerWorld w;
  auto& some = w.consumer(2, "a.*");
  w.add(spec("a.b"));
  w.add(spec("a.b.c"));
  w.add(spec("b"));
  REQUIRE(some.held.size() == 1);
  CHECK(some.job().item.topic == "a.b");
}

TEST_CASE("The one with the most of its window free is served first, however large it is") {
  OwnerWorld w;
  auto& small = w.consumer(2, "*", {2, 1});
  auto& large = w.consumer(3, "*", {8, 1});
  w.add(spec());
  w.add(spec());
  CHECK(small.held.size() == 1);
  CHECK(large.held.size() == 1);
  for (int i = 0; i < 3; ++i) w.add(spec());
  CHECK(small.held.size() == 1);
  CHECK(large.held.size() == 4);
}

TEST_CASE("A newcomer gets work although another has room for all") {
  OwnerWorld w;
  w.consumer(2, "*", {8, 1});
  w.add(spec());
  auto& newcomer = w.consumer(3, "*", {8, 1});
  w.add(spec());
  w.add(spec());
  CHECK(newcomer.held.size() == 1);
}

TEST_CASE("Consumers that are equally free are served in turn") {
  OwnerWorld w;
  auto& one = w.consumer(2);
  auto& other = w.consumer(3);
  for (int i = 0; i < 4; ++i) w.add(spec());
  CHECK(one.held.size() == 2);
  CHECK(other.held.size() == 2);
}

}  // namespace headrace::job
