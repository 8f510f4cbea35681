#include "core/job/ready_queue.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "core/base/random.h"
#include "core/job/lookup.h"
#include "core/store/keys.h"
#include "core/store/memory_store.h"
#include "core/store/record.h"
#include "core/wire/codec.h"
#include "tests/unit/job/must.h"

namespace headrace::job {
namespace {

JobPtr make(std::uint64_t number, std::uint32_t topic = 1, std::uint8_t priority = 4,
            Level level = Level::kDisk) {
  auto job = std::make_unique<Job>();
  job->number = number;
  job->topic = topic;
  job->priority = priority;
  job->level = level;
  return job;
}

// A queue with its rows, as the owner keeps them, and what must be in it.
class Queue {
 public:
  // As JobOwner::enqueue: the rows are written whether or not the job stays in memory.
  void push(std::uint32_t topic, std::uint8_t priority) {
    auto job = make(++jobs_, topic, priority);
    job->ready = queue.take_number();
    model[lane(*job)].insert(job->ready);
    write(*job, true);
    queue.push(std::move(job));
  }
  // As JobOwner::wake_delayed.
  void wake(std::uint32_t topic, std::uint8_t priority) {
    auto job = make(++jobs_, topic, priority);
    job->ready = queue.take_number();
    model[lane(*job)].insert(job->ready);
    write(*job, true);
    queue.pushed_on_disk(topic, priority, job->ready);
  }
  JobPtr pop(std::uint32_t topic) {
    const Job* best = queue.peek(topic);
    must(best != nullptr, "best != nullptr");
    auto job = queue.pop(topic);
    must(job.get() == best, "job.get() == best");
    auto& left = model[lane(*job)];
    must(!left.empty(), "!left.empty()");
    must(job->ready == *left.begin(),
         "job->ready == *left.begin()");  // the oldest of its lane, and not one that is out already
    left.erase(left.begin());
    erase(*job);
    return job;
  }
  void put_back(JobPtr job) {
    model[lane(*job)].insert(job->ready);
    write(*job, false);
    queue.put_back(std::move(job));
  }
  bool begin_refill(std::uint32_t topic) {
    const auto wanted = queue.next_refill(topic);
    if (wanted) reading.push_back(*wanted);
    return wanted.has_value();
  }
  // Reads what was asked first, as the store is now, and hands it over after `meanwhile`.
  template <typename Meanwhile>
  void end_refill(Meanwhile&& meanwhile) {
    const auto wanted = reading.front();
    reading.erase(reading.begin());
    auto snapshot = store.snapshot();
    must(snapshot.has_value(), "snapshot");
    auto rows = read_refill(**snapshot, 1, wanted, ReadyQueue::kRefillJobs);
    must(rows.faults.empty(), "rows.faults.empty()");
    meanwhile();
    queue.refilled(wanted, std::move(rows.jobs), rows.end);
  }
  std::size_t left() const {
    std::size_t count = 0;
    for (const auto& [key, numbers] : model) count += numbers.size();
    return count;
  }

  ReadyQueue queue{1};
  MemoryStore store;
  std::map<std::pair<std::uint32_t, int>, std::set<std::uint64_t>> model;  // by topic and priority
  std::vector<ReadyQueue::Refill> reading;

 private:
  static std::pair<std::uint32_t, int> lane(const Job& job) { return {job.topic, job.priority}; }
  static keys::Key key(const Job& job) {
    return keys::ready({1, job.topic, job.priority, job.ready});
  }
  void write(const Job& job, bool fresh) {
    WriteBatch batch;
    Bytes body;
    if (fresh) {
      encode(body, job);
      record::put(batch, keys::job(job.number), kRecordVersion, body);
    }
    body.clear();
    wire::Writer(body).u64(job.number);
    record::put(batch, key(job), kRecordVersion, body);
    must(store.write(batch, false).has_value(), "store.write(batch, false)");
  }
  void erase(const Job& job) {
    WriteBatch batch;
    batch.erase(key(job));
    must(store.write(batch, false).has_value(), "store.write(batch, false)");
  }

  std::uint64_t jobs_ = 0;
};

}  // namespace

TEST_CASE("A topic's jobs come by priority, then in the order in which they became ready") {
  ReadyQueue queue(1);
  const std::vector<std::uint8_t> priorities = {4, 0, 9, 4, 9, 5};
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    auto job = make(i + 1, 1, priorities[i]);
    job->ready = queue.take_number();
    REQUIRE(queue.keeps(*job));
    REQUIRE(queue.push(std::move(job)) != nullptr);
  }
  std::vector<std::uint64_t> order;
  while (queue.has_ready(1)) order.push_back(queue.pop(1)->number);
  CHECK(order == std::vector<std::uint64_t>{3, 5, 6, 1, 4, 2});
  CHECK(queue.memory() == 0);
  CHECK(queue.peek(1) == nullptr);
}

TEST_CASE("Topics are apart, and a topic without jobs has none ready") {
  ReadyQueue queue(1);
  auto job = make(1, 7);
  job->ready = queue.take_number();
  queue.push(std::move(job));
  CHECK(queue.has_ready(7));
  CHECK_FALSE(queue.has_ready(8));
  CHECK(queue.peek(8) == nullptr);
  CHECK_FALSE(queue.next_refill(8));
  CHECK(queue.topics() == std::vector<std::uint32_t>{7});
}

TEST_CASE("A job that comes back is served before those that became ready after it") {
  Queue q;
  for (int i = 0; i < 5; ++i) q.push(1, 4);
  auto first = q.pop(1);
  auto second = q.pop(1);
  q.put_back(std::move(second));
  q.put_back(std::move(first));
  for (std::uint64_t number = 1; number <= 5; ++number) CHECK(q.pop(1)->number == number);
}

TEST_CASE(
    "A head holds its limit; the next goes to disk, and so does everything behind it until that is "
    "read") {
  Queue q;
  for (std::size_t i = 0; i < ReadyQueue::kHeadJobs; ++i) q.push(1, 4);
  CHECK(q.queue.in_memory(1) == ReadyQueue::kHeadJobs);
  q.push(1, 4);
  CHECK(q.queue.in_memory(1) == ReadyQueue::kHeadJobs);  // one past it
  q.pop(1);
  q.push(1, 4);  // there would be room, but the one on disk is older
  CHECK(q.queue.in_memory(1) == ReadyQueue::kHeadJobs - 1);
  q.push(1, 9);  // another lane
  CHECK(q.queue.in_memory(1) == ReadyQueue::kHeadJobs);
}

TEST_CASE(
    "A spilled queue comes back whole and in order, read in pieces when half of a piece is left") {
  Queue q;
  constexpr std::uint64_t kJobs = ReadyQueue::kHeadJobs + 3 * ReadyQueue::kRefillJobs + 5;
  for (std::uint64_t i = 0; i < kJobs; ++i) q.push(1, 4);
  CHECK_FALSE(q.begin_refill(1));  // the head is full
  std::uint64_t next = 1;
  while (q.queue.has_ready(1)) {
    REQUIRE(q.pop(1)->number == next++);
    if (q.begin_refill(1)) {
      CHECK_FALSE(q.begin_refill(1));  // one read of a lane at a time
      q.end_refill([] {});
      REQUIRE(q.queue.in_memory(1) <= ReadyQueue::kHeadJobs);
    }
  }
  CHECK(next == kJobs + 1);
  CHECK_FALSE(q.begin_refill(1));
  q.push(1, 4);  // the disk part is used up: memory again
  CHECK(q.queue.in_memory(1) == 1);
}

TEST_CASE("Lanes found at open are read from their beginning") {
  Queue q;
  for (int i = 0; i < 10; ++i) q.push(3, 6);
  ReadyQueue opened(q.queue.next_number());
  opened.found_on_disk(3, 6);
  CHECK_FALSE(opened.has_ready(3));
  const auto wanted = opened.next_refill(3);
  REQUIRE(wanted);
  CHECK(wanted->above == 0);
  CHECK(wanted->priority == 6);
  auto snapshot = q.store.snapshot();
  auto rows = read_refill(**snapshot, 1, *wanted, 4);
  CHECK(rows.jobs.size() == 4);
  CHECK_FALSE(rows.end);
  opened.refilled(*wanted, std::move(rows.jobs), rows.end);
  const auto more = opened.next_refill(3);
  REQUIRE(more);
  CHECK(more->above == 4);
}

TEST_CASE("A row whose job is missing or damaged is told and does not hold up the rows behind it") {
  Queue q;
  for (int i = 0; i < 4; ++i) q.push(1, 4);
  WriteBatch batch;
  batch.erase(keys::job(1));
  batch.put(keys::job(2), "no envelope");
  batch.put(keys::ready({1, 1, 4, 3}), "nor this");
  REQUIRE(q.store.write(batch, false));
  auto snapshot = q.store.snapshot();
  const auto rows = read_refill(**snapshot, 1, {1, 4, 0, 100}, 100);
  CHECK(rows.end);
  REQUIRE(rows.jobs.size() == 1);
  CHECK(rows.jobs.front()->number == 4);
  CHECK(rows.faults.size() == 3);
}

TEST_CASE("Bytes bound the heads of all lanes together; what is over goes to disk") {
  ReadyQueue queue(1);
  std::size_t kept = 0;
  constexpr std::size_t kEach = 4000;
  const auto most = ReadyQueue::kHeadBytes / kEach + 1;
  for (std::uint32_t i = 0; i < most + 100; ++i) {
    auto job = make(i + 1, i % 50 + 1);
    job->params = Bytes(kEach, 'p');
    job->ready = queue.take_number();
    if (queue.push(std::move(job)) != nullptr) ++kept;
  }
  CHECK(kept < most);
  CHECK(queue.memory() >= ReadyQueue::kHeadBytes);
  CHECK(queue.memory() < ReadyQueue::kHeadBytes + 2 * kEach);
  for (const auto topic : queue.topics()) {
    while (queue.has_ready(topic)) queue.pop(topic);
  }
  CHECK(queue.memory() == 0);
}

TEST_CASE("A payload with a row of its own does not count, since it does not stay") {
  ReadyQueue queue(1);
  auto job = make(1);
  job->payload = Bytes(kPayloadInRow + 1, 'x');
  job->payload_bytes = job->payload.size();
  job->ready = queue.take_number();
  Job* kept = queue.push(std::move(job));
  REQUIRE(kept != nullptr);
  kept->payload = {};  // as the owner does once the row is in the batch
  queue.pop(1);
  CHECK(queue.memory() == 0);
}

// Against a sorted model: what is popped is the oldest of its lane, and everything comes once.
TEST_CASE(
    "Whatever the order of adds, wakes, pops, returns and reads, each job comes once and in its "
    "lane's order") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Queue q;
    std::vector<JobPtr> out;
    const auto topic = [&] { return static_cast<std::uint32_t>(random.between(1, 2)); };
    const auto priority = [&] { return static_cast<std::uint8_t>(random.chance(0.5) ? 4 : 5); };
    std::size_t taken = 0;
    std::size_t made = 0;
    const auto step = [&] {
      const auto what = random.below(10);
      if (what < 2) {
        const auto burst = random.chance(0.1) ? random.below(6000) : random.below(30);
        const auto t = topic();
        const auto p = priority();
        for (std::uint64_t i = 0; i < burst; ++i, ++made) q.push(t, p);
      } else if (what < 3) {
        for (auto i = random.below(20); i > 0; --i, ++made) q.wake(topic(), priority());
      } else if (what < 8) {
        const auto t = topic();
        for (auto i = random.below(800); i > 0 && q.queue.has_ready(t); --i) {
          auto job = q.pop(t);
          if (random.chance(0.1))
            out.push_back(std::move(job));
          else
            ++taken;
        }
      } else {
        for (auto i = random.below(5); i > 0 && !out.empty(); --i) {
          const auto at = random.below(out.size());
          q.put_back(std::move(out[at]));
          out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
        }
      }
    };
    for (int i = 0; i < 400; ++i) {
      step();
      if (random.chance(0.5)) q.begin_refill(topic());
      if (!q.reading.empty() && random.chance(0.5)) q.end_refill([&] { step(); });
    }
    for (auto& job : out) q.put_back(std::move(job));
    for (int idle = 0; idle < 3;) {
      ++idle;
      for (const std::uint32_t t : {1u, 2u}) {
        while (q.begin_refill(t)) {
        }
        while (!q.reading.empty()) q.end_refill([] {});
        for (; q.queue.has_ready(t); ++taken) {
          q.pop(t);
          idle = 0;
          if (q.begin_refill(t)) q.end_refill([] {});
        }
      }
    }
    CHECK(q.left() == 0);
    CHECK(taken == made);
    CHECK(q.queue.memory() == 0);
  }
}

}  // namespace headrace::job
