// How jobs end, and what a completion counts for.
#include "core/base/limits.h"
#include "core/job/lookup.h"
#include "tests/unit/job/owner_world.h"

namespace headrace::job {

using keys::Space;

TEST_CASE("A completion with the current token ends the job, once, and is answered") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  const auto done = w.finish(consumer);
  CHECK(w.state(id) == JobState::kSucceeded);
  CHECK(consumer.answers.at(done.token));
  CHECK(w.rows(Space::kActive) == 0);
  CHECK(w.rows(Space::kHistory) == 1);
  REQUIRE(w.host.ends.size() == 1);
  CHECK(w.host.ends.front() == std::pair(id, JobState::kSucceeded));
}

TEST_CASE("The answer to a completion waits for its outcome to be on disk") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  wire::JobDone done;
  done.token = consumer.job().item.token;
  done.job_number = consumer.job().item.job_number;
  w.owner->on_done(w.now, consumer.node, consumer.life, done);
  w.owner->end_turn(w.now);
  CHECK(w.host.sync);
  std::size_t acks = 0;
  for (const auto& sent : w.host.sent) {
    wire::Reader in(sent.message);
    in.array(64);
    if (in.u64() != wire::number(wire::Kind::kJobDoneAck)) continue;
    ++acks;
    CHECK(sent.after == After::kDisk);
    CHECK(sent.lane == wire::Lane::kControl);
  }
  CHECK(acks == 1);
}

TEST_CASE(
    "A completion that is repeated gets its first answer and changes nothing, also after a "
    "restart") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  const auto done = w.finish(consumer);
  consumer.answers.clear();
  SECTION("at once") { w.done(consumer, done); }
  SECTION("with another outcome") {
    auto other = done;
    other.end = static_cast<std::uint8_t>(JobEnd::Kind::kCancel);
    w.done(consumer, other);
  }
  SECTION("after a restart") {
    w.reopen();
    w.done(consumer, done);
  }
  CHECK(consumer.answers.at(done.token));
  CHECK(w.state(id) == JobState::kSucceeded);
  CHECK(w.host.ends.size() == 1);
  CHECK(w.owner->counts().refused_completions == 0);
}

TEST_CASE("The completion of an attempt that failed is remembered while the next one runs") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  const auto first = w.finish(consumer, 0, JobEnd::Kind::kFail, "no", Millis{100});
  w.advance(Millis{200});
  REQUIRE(consumer.held.size() == 1);
  const bool reopened = GENERATE(false, true);
  if (reopened) {
    w.reopen();
    w.advertise(consumer);
    w.settle();
  }
  consumer.answers.clear();
  w.done(consumer, first);
  CHECK(consumer.answers.at(first.token));
  CHECK(w.state(id) == JobState::kActive);
}

TEST_CASE("A completion with a token that is not current is refused and changes nothing") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  wire::JobDone stale;
  stale.job_number = consumer.job().item.job_number;
  stale.token = consumer.job().item.token;
  SECTION("another number") { stale.token.number += 1; }
  SECTION("another life of the owner") { stale.token.life ^= 2; }
  w.done(consumer, stale);
  CHECK_FALSE(consumer.answers.at(stale.token));
  CHECK(w.state(id) == JobState::kActive);
  CHECK(w.owner->counts().refused_completions == 1);
  CHECK(w.host.ends.empty());
}

TEST_CASE("A completion after the end, with another token, is refused and counted") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  auto stale = w.finish(consumer);
  stale.token.number += 100;
  w.done(consumer, stale);
  CHECK_FALSE(consumer.answers.at(stale.token));
  CHECK(w.owner->counts().refused_completions == 1);
}

TEST_CASE("A token counts from the node that it was given to only") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto& thief = w.consumer(3, "other");
  const auto id = w.add(spec());
  wire::JobDone done;
  done.job_number = consumer.job().item.job_number;
  done.token = consumer.job().item.token;
  w.done(thief, done);
  CHECK_FALSE(thief.answers.at(done.token));
  CHECK(w.state(id) == JobState::kActive);
}

TEST_CASE("A completion for a job that never was is refused") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  wire::JobDone done;
  done.job_number = 424242;
  done.token = {1, 1};
  w.done(consumer, done);
  CHECK_FALSE(consumer.answers.at(done.token));
}

TEST_CASE("A failed attempt is tried again after the backoff, with its error kept") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.finish(consumer, 0, JobEnd::Kind::kFail, "first");
  auto info = *w.info(id);
  CHECK(info.state == JobState::kDelayed);
  CHECK(info.attempt == 1);
  CHECK(info.error == "first");
  REQUIRE(info.not_before);
  CHECK(*info.not_before >= w.now.wall + Millis{750});
  CHECK(*info.not_before <= w.now.wall + Millis{1250});
  w.advance(Millis{700});
  CHECK(consumer.held.empty());
  w.advance(Millis{700});
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.attempt == 2);
  CHECK(consumer.job().item.deliveries == 2);
  w.finish(consumer);
  info = *w.info(id);
  CHECK(info.state == JobState::kSucceeded);
  CHECK(info.errors == std::vector<std::string>{"first"});
}

TEST_CASE("The handler's own pause replaces the backoff, zero included") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.finish(consumer, 0, JobEnd::Kind::kFail, "wait", Millis{5000});
  CHECK(*w.info(id)->not_before == w.now.wall + Millis{5000});
  w.advance(Millis{4900});
  CHECK(consumer.held.empty());
  w.advance(Millis{200});
  REQUIRE(consumer.held.size() == 1);
  w.finish(consumer, 0, JobEnd::Kind::kFail, "at once", Millis{0});
  w.advance(Millis{100});
  CHECK(consumer.held.size() == 1);
}

TEST_CASE("A job is given up after max_attempts runs, with the last error and all of them kept") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.max_attempts = 3;
  const auto id = w.add(job);
  for (int i = 1; i <= 3; ++i) {
    REQUIRE(consumer.held.size() == 1);
    w.finish(consumer, 0, JobEnd::Kind::kFail, "error " + std::to_string(i), Millis{0});
    w.advance(Millis{100});
  }
  const auto info = *w.info(id);
  CHECK(info.state == JobState::kGivenUp);
  CHECK(info.attempt == 3);
  CHECK(info.error == "error 3");
  CHECK(info.errors == std::vector<std::string>{"error 1", "error 2", "error 3"});
  CHECK(consumer.held.empty());
  CHECK(w.rows(Space::kDelayed) == 0);
}

TEST_CASE("Of many errors the newest are kept") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.max_attempts = limits::kErrorsKept + 5;
  const auto id = w.add(job);
  for (unsigned i = 1; i <= job.max_attempts; ++i) {
    REQUIRE(consumer.held.size() == 1);
    w.finish(consumer, 0, JobEnd::Kind::kFail, std::to_string(i), Millis{0});
    w.advance(Millis{100});
  }
  const auto info = *w.info(id);
  CHECK(info.state == JobState::kGivenUp);
  REQUIRE(info.errors.size() == limits::kErrorsKept);
  CHECK(info.errors.front() == "6");
  CHECK(info.errors.back() == "25");
}

TEST_CASE(
    "Failed runs have their own limit: more than kDeliveries of them do not end a job early") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.max_attempts = limits::kDeliveries + 10;
  const auto id = w.add(job);
  for (unsigned i = 1; i < job.max_attempts; ++i) {
    REQUIRE(consumer.held.size() == 1);
    w.finish(consumer, 0, JobEnd::Kind::kFail, "no", Millis{0});
    w.advance(Millis{100});
  }
  REQUIRE(consumer.held.size() == 1);
  w.finish(consumer);
  CHECK(w.state(id) == JobState::kSucceeded);
}

TEST_CASE("What can never succeed ends in ERROR at once") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.finish(consumer, 0, JobEnd::Kind::kCancel, "nonsense");
  CHECK(w.state(id) == JobState::kError);
  CHECK(w.info(id)->error == "nonsense");
  CHECK(w.info(id)->attempt == 1);
}

TEST_CASE("A delayed retry survives a restart, with its attempts") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto id = w.add(spec());
  w.finish(consumer, 0, JobEnd::Kind::kFail, "no", Millis{5000});
  w.reopen();
  w.advertise(consumer);
  w.settle();
  CHECK(w.state(id) == JobState::kDelayed);
  w.advance(Millis{5200});
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.attempt == 2);
}

TEST_CASE("A large payload outlives a failed attempt") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.payload = Bytes(10'000, 'x');
  w.add(job);
  w.finish(consumer, 0, JobEnd::Kind::kFail, "no", Millis{0});
  w.advance(Millis{100});
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.payload.inlined == job.payload);
}

TEST_CASE("Ended jobs fall out of history, row, payload and id, by the retention asked for") {
  OwnerWorld w({.succeeded_age = std::chrono::hours{1}, .succeeded_count = 3});
  auto& consumer = w.consumer(2);
  std::vector<JobId> ids;
  for (int i = 0; i < 5; ++i) {
    auto job = spec();
    job.payload = Bytes(5000, 'x');
    job.id = JobId::from_halves(9, static_cast<std::uint64_t>(i + 1));
    ids.push_back(w.add(job));
    w.finish(consumer);
    w.advance(Millis{100});
  }
  CHECK(w.rows(Space::kJob) == 3);
  CHECK(w.rows(Space::kPayload) == 3);
  CHECK(w.rows(Space::kJobId) == 3);
  CHECK(w.info(ids[4]));
  CHECK_FALSE(w.has(keys::job_id(ids[0])));
}

TEST_CASE("Finding looks through what is stored, by state and topic, oldest first") {
  OwnerWorld w;
  auto& consumer = w.consumer(2, "a", {1, 0});
  const auto one = w.add(spec("a"));
  const auto two = w.add(spec("a"));
  const auto three = w.add(spec("b.c"));
  w.finish(consumer, 0, JobEnd::Kind::kCancel, "x");
  auto snapshot = w.store.snapshot();
  const auto find = [&](const JobFilter& filter) {
    std::vector<JobId> ids;
    const auto found = find_jobs(**snapshot, filter, w.owner->topics(), w.self, w.now.wall);
    REQUIRE(found);
    for (const auto& info : *found) ids.push_back(info.id);
    return ids;
  };
  CHECK(find({}) == std::vector<JobId>{one, two, three});
  CHECK(find({.limit = 2}) == std::vector<JobId>{one, two});
  CHECK(find({.state = JobState::kActive}) == std::vector<JobId>{two});
  CHECK(find({.state = JobState::kError}) == std::vector<JobId>{one});
  CHECK(find({.topic = "b.>"}) == std::vector<JobId>{three});
  CHECK(find({.topic = "a", .limit = 1}) == std::vector<JobId>{one});
  CHECK_FALSE(find_jobs(**snapshot, {.topic = "a..b"}, w.owner->topics(), w.self, w.now.wall));
}

}  // namespace headrace::job
