// How jobs come in: rows, levels, ids, and what is dispatched at once.
#include "core/job/lookup.h"
#include "tests/unit/job/owner_world.h"

namespace headrace::job {

using keys::Space;

TEST_CASE("A job that nobody takes is QUEUED, with a row of its own and one in its queue") {
  OwnerWorld w;
  const auto id = w.add(spec());
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.rows(Space::kJob) == 1);
  CHECK(w.rows(Space::kReady) == 1);
  CHECK(w.rows(Space::kActive) == 0);
}

TEST_CASE(
    "A job that finds credit is stored ACTIVE in the batch of its add, and never has a row in a "
    "queue") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  w.finish(consumer);  // the first contact costs a round trip; from here there is credit
  std::vector<NewJob> jobs;
  jobs.push_back(spec());
  w.owner->add(w.now, ++w.last_ticket, std::move(jobs), false);
  w.owner->end_turn(w.now);
  std::size_t active = 0, job = 0, ready = 0;
  w.host.pending.each(
      [&](BytesView key, BytesView) {
        active += keys::in_space(key, Space::kActive);
        job += keys::in_space(key, Space::kJob);
        ready += keys::in_space(key, Space::kReady);
      },
      [&](BytesView key) { ready += keys::in_space(key, Space::kReady); });
  CHECK(active == 1);
  CHECK(job == 1);
  CHECK(ready == 0);
  CHECK(w.host.sync);
  // The dispatch, and the answer, wait for that batch to be on disk.
  std::size_t items = 0;
  for (const auto& sent : w.host.sent) {
    wire::Reader in(sent.message);
    in.array(64);
    if (in.u64() != wire::number(wire::Kind::kJobItem)) continue;
    ++items;
    CHECK(sent.after == After::kDisk);
    CHECK(sent.lane == wire::Lane::kData);
  }
  CHECK(items == 1);
  CHECK(w.host.answers.at(w.last_ticket).level == Level::kDisk);
  w.settle();
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.attempt == 1);
  CHECK(consumer.job().item.deliveries == 1);
  CHECK(w.state(w.host.answers.at(w.last_ticket).ids->front()) == JobState::kActive);
}

TEST_CASE("Jobs of level memory are taken up to their bytes, and no more until some have ended") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  const auto add = [&] {
    NewJob job = spec();
    job.level = Level::kMemory;
    job.params = {};
    job.payload = Bytes(limits::kJobPayloadBytes, 'x');
    std::vector<NewJob> jobs;
    jobs.push_back(std::move(job));
    w.owner->add(w.now, ++w.last_ticket, std::move(jobs), false);
    w.settle();
    return w.host.answers.at(w.last_ticket).ids.has_value();
  };
  REQUIRE(add());
  const auto first = w.host.answers.at(w.last_ticket).ids->front();
  for (std::size_t i = 1; i < limits::kUnstoredBytes / limits::kJobPayloadBytes; ++i)
    REQUIRE(add());
  CHECK_FALSE(add());
  CHECK(w.host.answers.at(w.last_ticket).ids.error().code == Code::kFull);
  NewJob again = spec();
  again.level = Level::kMemory;
  again.id = first;
  again.payload = Bytes(limits::kJobPayloadBytes, 'x');
  std::vector<NewJob> jobs;
  jobs.push_back(std::move(again));
  w.owner->add(w.now, ++w.last_ticket, std::move(jobs), false);
  w.settle();
  CHECK(w.host.answers.at(w.last_ticket).ids == std::vector<JobId>{first});  // it is here
  w.finish(consumer);
  CHECK(add());
}

TEST_CASE("Each level waits for what it promises") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  w.add(spec());
  w.finish(consumer);
  const auto [level, after] =
      GENERATE(std::pair(Level::kDisk, After::kDisk), std::pair(Level::kOs, After::kOs),
               std::pair(Level::kMemory, After::kMemory));
  auto job = spec();
  job.level = level;
  job.payload = "p";
  std::vector<NewJob> jobs;
  jobs.push_back(std::move(job));
  w.turn();
  w.owner->add(w.now, 99, std::move(jobs), false);
  w.owner->end_turn(w.now);
  CHECK(w.host.answers.at(99).level == level);
  REQUIRE(w.host.sent.size() == 1);
  CHECK(w.host.sent.front().after == after);
  if (level == Level::kMemory) {
    std::size_t jobs_written = 0;
    w.host.pending.each(
        [&](BytesView key, BytesView) { jobs_written += keys::in_space(key, Space::kJob); },
        [](BytesView) {});
    CHECK(jobs_written == 0);
  }
  w.settle();
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.payload.inlined == "p");
}

TEST_CASE("A group promises no more than the weakest of its levels") {
  OwnerWorld w;
  std::vector<NewJob> jobs{spec(), spec(), spec()};
  jobs[1].level = Level::kOs;
  w.add_many(std::move(jobs));
  CHECK(w.host.answers.at(1).level == Level::kOs);
}

TEST_CASE(
    "A job of level memory is seen while it waits, runs and after it ended, and is gone at a "
    "restart") {
  OwnerWorld w;
  auto job = spec();
  job.level = Level::kMemory;
  const auto id = w.add(job);
  REQUIRE(w.info(id));
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.owner->find_in_memory(w.now, {}).size() == 1);
  CHECK(w.owner->find_in_memory(w.now, {.state = JobState::kActive}).empty());
  job.not_before = w.now.wall + std::chrono::hours{1};
  const auto later = w.add(job);
  REQUIRE(w.info(later));
  CHECK(w.state(later) == JobState::kDelayed);
  auto& consumer = w.consumer(2);
  CHECK(w.state(id) == JobState::kActive);
  w.finish(consumer);
  CHECK(w.state(id) == JobState::kSucceeded);
  CHECK(w.owner->find_in_memory(w.now, {}).size() == 2);
  CHECK(w.owner->find_in_memory(w.now, {.limit = 1}).size() == 1);
  CHECK(w.rows(Space::kJob) == 0);
  w.reopen();
  CHECK_FALSE(w.info(id));
  CHECK_FALSE(w.info(later));
}

TEST_CASE("A job of level memory that fails is tried again, and given up in the end") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.level = Level::kMemory;
  job.max_attempts = 2;
  const auto id = w.add(job);
  w.finish(consumer, 0, JobEnd::Kind::kFail, "no", Millis{500});
  CHECK(w.state(id) == JobState::kDelayed);
  w.advance(Millis{600});
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.attempt == 2);
  w.finish(consumer, 0, JobEnd::Kind::kFail, "still no");
  CHECK(w.state(id) == JobState::kGivenUp);
  CHECK(w.rows(Space::kJob) == 0);
  CHECK(w.rows(Space::kHistory) == 0);
}

TEST_CASE(
    "A large payload lies apart, is sent in pieces, and is read when the job is dispatched later") {
  OwnerWorld w;
  Bytes payload(600'000, 'a');
  for (std::size_t i = 0; i < payload.size(); i += 1000)
    payload[i] = static_cast<char>('b' + i / 1000 % 20);
  auto job = spec();
  job.payload = payload;
  const bool waits = GENERATE(false, true);
  if (!waits) w.consumer(2);
  const auto id = w.add(job);
  CHECK(w.rows(Space::kPayload) == 1);
  if (waits) w.consumer(2);
  auto& consumer = *w.consumers.front();
  REQUIRE(consumer.held.size() == 1);
  const auto& item = consumer.job().item;
  REQUIRE(item.payload.blob != 0);
  CHECK(item.payload.inlined.empty());
  CHECK(w.blobs.at(item.payload.blob) == payload);
  w.finish(consumer);
  CHECK(w.state(id) == JobState::kSucceeded);
}

TEST_CASE("Payloads on disk do not stay in memory, however many jobs wait") {
  OwnerWorld w;
  constexpr int kJobs = 40;
  for (int i = 0; i < kJobs; ++i) {
    auto job = spec();
    job.payload = Bytes(2 << 20, 'x');
    w.add(std::move(job));
  }
  // 80 MiB of payloads, and the heads (48 MiB at most) still hold every one of these jobs.
  CHECK(w.owner->counts().ready_in_memory == kJobs);
  auto& consumer = w.consumer(2, "*", {2, 1});
  for (int i = 0; i < kJobs; ++i) {
    REQUIRE_FALSE(consumer.held.empty());
    w.finish(consumer);
  }
  CHECK(consumer.history.size() == kJobs);
}

TEST_CASE(
    "A job whose payload cannot be read ends in ERROR with the reason, and the next goes on") {
  OwnerWorld w;
  auto job = spec();
  job.payload = Bytes(10'000, 'x');
  const auto lost = w.add(job);
  const auto next = w.add(spec());
  WriteBatch batch;
  batch.erase(keys::payload(lost.low()));
  REQUIRE(w.store.write(batch, false));
  auto& consumer = w.consumer(2);
  CHECK(w.state(lost) == JobState::kError);
  CHECK(w.info(lost)->error.find("payload") != std::string::npos);
  CHECK_FALSE(w.host.notes.empty());
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.id == next);
}

TEST_CASE("Higher priority first, and within one the older first, over all topics") {
  OwnerWorld w;
  std::vector<JobId> ids;
  for (const auto& [topic, priority] : std::vector<std::pair<std::string, int>>{
           {"a", 4}, {"b", 4}, {"a", 9}, {"b", 0}, {"b", 9}, {"a", 4}}) {
    ids.push_back(w.add(spec(topic, priority)));
  }
  auto& consumer = w.consumer(2, "*", {1, 0});
  std::vector<JobId> order;
  while (!consumer.held.empty()) {
    order.push_back(consumer.job().item.id);
    w.finish(consumer);
  }
  CHECK(order == std::vector<JobId>{ids[2], ids[4], ids[0], ids[1], ids[5], ids[3]});
}

TEST_CASE("A job waits for its time, and then runs once") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.not_before = w.now.wall + std::chrono::seconds{5};
  const auto id = w.add(job);
  CHECK(w.state(id) == JobState::kDelayed);
  CHECK(w.rows(Space::kDelayed) == 1);
  w.advance(Millis{4900});
  CHECK(consumer.held.empty());
  w.advance(Millis{200});
  REQUIRE(consumer.held.size() == 1);
  CHECK(w.state(id) == JobState::kActive);
  CHECK(w.rows(Space::kDelayed) == 0);
  CHECK(w.rows(Space::kReady) == 0);
  w.finish(consumer);
  w.advance(std::chrono::seconds{10});
  CHECK(consumer.history.size() == 1);
}

TEST_CASE("A time that has passed is no reason to wait") {
  OwnerWorld w;
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.not_before = w.now.wall;
  w.add(job);
  CHECK(consumer.held.size() == 1);
}

TEST_CASE("Jobs that wait for their time are found again at the next open") {
  OwnerWorld w;
  auto job = spec();
  job.not_before = w.now.wall + std::chrono::seconds{5};
  const auto id = w.add(job);
  w.reopen();
  auto& consumer = w.consumer(2);
  CHECK(w.state(id) == JobState::kDelayed);
  w.advance(std::chrono::seconds{6});
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.id == id);
}

TEST_CASE("A caller's id names one job, however often it is added") {
  OwnerWorld w;
  auto job = spec();
  job.id = JobId::from_halves(123, 456);
  CHECK(w.add(job) == *job.id);
  CHECK(w.add(job) == *job.id);
  CHECK(w.add(job, true) == *job.id);
  CHECK(w.add_many({job, spec(), job}).size() == 3);
  CHECK(w.rows(Space::kJob) == 2);
  CHECK(w.rows(Space::kReady) == 2);
  CHECK(w.rows(Space::kJobId) == 1);
  auto& consumer = w.consumer(2);
  CHECK(consumer.held.size() == 2);
}

TEST_CASE("A repeated add is found on disk after a restart, running or ended") {
  OwnerWorld w;
  auto job = spec();
  job.id = JobId::from_halves(123, 456);
  w.add(job);
  w.reopen();
  CHECK(w.add(job, true) == *job.id);
  CHECK(w.rows(Space::kJob) == 1);
  auto& consumer = w.consumer(2);
  w.finish(consumer);
  w.reopen();
  CHECK(w.add(job, true) == *job.id);
  CHECK(w.rows(Space::kJob) == 1);
  CHECK(w.state(*job.id) == JobState::kSucceeded);
}

TEST_CASE("An id of an ended job that was looked up on disk is forgotten like any other") {
  OwnerWorld w({.succeeded_age = std::chrono::hours{1}});
  auto& consumer = w.consumer(2);
  auto job = spec();
  job.id = JobId::from_halves(123, 456);
  w.add(job);
  w.finish(consumer);
  w.reopen();
  w.advertise(consumer);
  w.settle();
  CHECK(w.add(job, true) == *job.id);   // known from disk
  w.advance(std::chrono::minutes{61});  // out of history, and out of memory
  w.turn();
  CHECK(w.rows(Space::kJob) == 0);
  CHECK(w.add(job, true) == *job.id);  // new
  CHECK(w.rows(Space::kJob) == 1);
}

// The store failed before the add was on disk: the error names the id, and the caller adds it again.
TEST_CASE("An id made here whose add was lost with the store is a new job when it is added again") {
  OwnerWorld w;
  std::vector<NewJob> jobs;
  jobs.push_back(spec());
  w.owner->add(w.now, 1, std::move(jobs), false);
  w.owner->end_turn(w.now);
  const auto id = w.host.answers.at(1).ids->front();
  w.reopen();  // the batch was never written
  auto again = spec();
  again.id = id;
  w.last_ticket = 1;
  CHECK(w.add(again, true) == id);
  REQUIRE(w.info(id));
  CHECK(w.state(id) == JobState::kQueued);
  CHECK(w.add(again, true) == id);  // now it is there
  CHECK(w.rows(Space::kReady) == 1);
  auto& consumer = w.consumer(2);
  REQUIRE(consumer.held.size() == 1);
  CHECK(consumer.job().item.id == id);
  w.finish(consumer);
  CHECK(w.state(id) == JobState::kSucceeded);
  w.reopen();
  CHECK(w.state(id) == JobState::kSucceeded);
  CHECK(w.add(again, true) == id);
  CHECK(w.rows(Space::kJob) == 1);
}

TEST_CASE("An id made here that is added again is the same job, also after a restart") {
  OwnerWorld w;
  const auto id = w.add(spec());
  auto again = spec();
  again.id = id;
  CHECK(w.add(again, true) == id);
  w.reopen();
  CHECK(w.add(again, true) == id);
  CHECK(w.rows(Space::kJob) == 1);
}

TEST_CASE("Numbers are not given twice, even when nothing is left of those given") {
  OwnerWorld w({.succeeded_age = std::chrono::hours{1}, .succeeded_count = 0});
  std::set<JobId> seen;
  std::set<wire::Token> tokens;
  for (int round = 0; round < 4; ++round) {
    auto& consumer = w.consumer(static_cast<std::uint64_t>(2 + round));
    for (int i = 0; i < 5; ++i) {
      const auto id = w.add(spec());
      CHECK(seen.insert(id).second);
      REQUIRE_FALSE(consumer.held.empty());
      CHECK(tokens.insert(consumer.job().item.token).second);
      w.finish(consumer);
    }
    w.advance(Millis{100});
    CHECK(w.rows(Space::kJob) == 0);  // all purged
    w.reopen();
  }
}

TEST_CASE("The end of the block of numbers is in the store before the numbers are used up") {
  OwnerWorld w;
  w.add(spec());
  auto snapshot = w.store.snapshot();
  const auto row = (*snapshot)->get(keys::meta("job-numbers"));
  REQUIRE(row);
  REQUIRE(*row);
}

TEST_CASE("A topic keeps its number over restarts") {
  OwnerWorld w;
  w.add(spec("a.b"));
  w.add(spec("c"));
  w.reopen();
  w.add(spec("c"));
  w.add(spec("a.b"));
  CHECK(w.rows(Space::kTopic) == 2);
  auto& consumer = w.consumer(2, "a.*");
  CHECK(consumer.held.size() == 2);
}

TEST_CASE("A consumer gets jobs of a topic that was new after it came") {
  OwnerWorld w;
  auto& some = w.consumer(2, "a.>");
  w.add(spec("a.x.y"));
  w.add(spec("b.x.y"));
  REQUIRE(some.held.size() == 1);
  CHECK(some.job().item.topic == "a.x.y");
}

TEST_CASE("A backlog longer than a head is worked off in order") {
  OwnerWorld w;
  constexpr std::size_t kJobs = ReadyQueue::kHeadJobs + ReadyQueue::kRefillJobs + 10;
  std::vector<NewJob> jobs(kJobs, spec());
  const auto ids = w.add_many(std::move(jobs));
  CHECK(w.owner->counts().ready_in_memory == ReadyQueue::kHeadJobs);
  const bool reopened = GENERATE(false, true);
  if (reopened) w.reopen();
  auto& consumer = w.consumer(2, "*", {1000, 500});
  for (std::size_t i = 0; i < kJobs; ++i) {
    REQUIRE_FALSE(consumer.held.empty());
    REQUIRE(consumer.job().item.id == ids[i]);
    w.finish(consumer);
  }
  CHECK(consumer.held.empty());
  CHECK(w.rows(Space::kReady) == 0);
}

}  // namespace headrace::job
