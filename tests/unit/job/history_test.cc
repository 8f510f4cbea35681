#include "core/job/history.h"

#include <catch2/catch.hpp>

#include "core/store/keys.h"
#include "core/store/memory_store.h"
#include "core/store/record.h"

namespace headrace::job {
namespace {

using namespace std::chrono_literals;

const WallTime kStart{std::chrono::hours{24 * 365 * 50}};

Job ended(std::uint64_t number, JobState state = JobState::kSucceeded) {
  Job job;
  job.number = number;
  job.id = JobId::from_halves(5, number);
  job.state = state;
  return job;
}

class Kept {
 public:
  explicit Kept(Retention retention) : history(retention), retention_(retention) {}

  // Ends `count` jobs in one turn, their rows written.
  void end(std::uint64_t count, WallTime now, JobState state = JobState::kSucceeded) {
    WriteBatch batch;
    for (std::uint64_t i = 0; i < count; ++i) {
      batch.put(keys::job(++last), "row");
      history.add(ended(last, state));
    }
    history.flush(batch, now);
    REQUIRE(store.write(batch, false));
  }
  void purge(WallTime now, std::size_t limit = 1'000'000) {
    WriteBatch batch;
    history.purge(batch, now, limit);
    REQUIRE(store.write(batch, false));
  }
  bool has(BytesView key) {
    auto snapshot = store.snapshot();
    return (*snapshot)->get(key)->has_value();
  }
  std::size_t rows(keys::Space space) {
    auto snapshot = store.snapshot();
    const auto cursor = (*snapshot)->cursor();
    std::size_t count = 0;
    for (cursor->seek(keys::space(space)); cursor->valid() && keys::in_space(cursor->key(), space);
         cursor->next()) {
      ++count;
    }
    return count;
  }
  void reload() {
    history = History(retention_);
    auto snapshot = store.snapshot();
    const auto cursor = (*snapshot)->cursor();
    const auto space = keys::Space::kHistory;
    for (cursor->seek(keys::space(space)); cursor->valid() && keys::in_space(cursor->key(), space);
         cursor->next()) {
      history.found(cursor->key(), record::open(cursor->value())->body);
    }
  }

  History history;
  MemoryStore store;
  std::uint64_t last = 0;

 private:
  Retention retention_;
};

}  // namespace

TEST_CASE("The jobs that end in one turn share a segment for each kind of ending") {
  Kept kept({});
  WriteBatch batch;
  kept.history.add(ended(1));
  kept.history.add(ended(2, JobState::kGivenUp));
  kept.history.add(ended(3));
  CHECK(kept.history.pending());
  kept.history.flush(batch, kStart);
  CHECK(batch.count() == 2);
  CHECK_FALSE(kept.history.pending());
  CHECK(kept.history.count() == 3);
}

TEST_CASE("A turn with more endings than a segment holds makes several, and loses none") {
  Kept kept({});
  kept.end(4096 + 1, kStart);
  CHECK(kept.rows(keys::Space::kHistory) == 2);
  kept.reload();
  CHECK(kept.history.count() == 4097);
}

TEST_CASE("Succeeded jobs are kept until they are too old, to the microsecond") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 10'000, .other_age = 168h});
  kept.end(3, kStart);
  CHECK_FALSE(kept.history.purge_due(kStart + 1h - 1us));
  CHECK(kept.history.purge_due(kStart + 1h));
  kept.purge(kStart + 1h);
  CHECK(kept.history.count() == 0);
  CHECK(kept.rows(keys::Space::kJob) == 0);
  CHECK(kept.rows(keys::Space::kHistory) == 0);
}

TEST_CASE("Jobs that did not succeed have their own age, and no count") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 2, .other_age = 168h});
  kept.end(100, kStart, JobState::kGivenUp);
  CHECK_FALSE(kept.history.purge_due(kStart + 168h - 1us));
  CHECK(kept.history.purge_due(kStart + 168h));
  kept.purge(kStart + 168h);
  CHECK(kept.history.count() == 0);
}

TEST_CASE("The count of succeeded jobs is never undercut, and passed by less than a segment") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 10, .other_age = 168h});
  for (int i = 0; i < 4; ++i)
    kept.end(3, kStart);  // 12: without the oldest segment 9 would be left
  CHECK_FALSE(kept.history.purge_due(kStart));
  kept.end(1, kStart);  // 13: 10 are left
  REQUIRE(kept.history.purge_due(kStart));
  kept.purge(kStart);
  CHECK(kept.history.count() == 10);
  CHECK_FALSE(kept.has(keys::job(3)));
  CHECK(kept.has(keys::job(4)));
}

TEST_CASE("A purge stops after its limit and goes on at the next") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 0, .other_age = 168h});
  for (int i = 0; i < 10; ++i) kept.end(5, kStart);
  kept.purge(kStart, 12);
  CHECK(kept.history.count() == 35);  // three whole segments
  kept.purge(kStart, 12);
  CHECK(kept.history.count() == 20);
}

TEST_CASE("What a job had beside its row goes with it: a payload, the row of a caller's id") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 100, .other_age = 168h});
  Job job = ended(1);
  job.foreign_id = true;
  job.payload_bytes = kPayloadInRow + 1;
  WriteBatch batch;
  for (const auto& key : {keys::job(1), keys::payload(1), keys::job_id(job.id), keys::job(2)})
    batch.put(key, "row");
  kept.history.add(job);
  kept.history.flush(batch, kStart);
  REQUIRE(kept.store.write(batch, false));
  kept.reload();  // the segment remembers all of it
  kept.purge(kStart + 1h);
  CHECK_FALSE(kept.has(keys::job(1)));
  CHECK_FALSE(kept.has(keys::payload(1)));
  CHECK_FALSE(kept.has(keys::job_id(job.id)));
  CHECK(kept.has(keys::job(2)));
}

TEST_CASE("After a reload the same jobs are kept and the oldest go first") {
  Kept kept({.succeeded_age = 1h, .succeeded_count = 4, .other_age = 168h});
  kept.end(2, kStart);
  kept.end(2, kStart + 1s);
  kept.end(1, kStart + 2s, JobState::kError);
  kept.reload();
  CHECK(kept.history.count() == 5);
  CHECK_FALSE(kept.history.purge_due(kStart + 2s));
  kept.end(2, kStart + 3s);
  kept.purge(kStart + 3s);
  CHECK_FALSE(kept.has(keys::job(2)));
  CHECK(kept.has(keys::job(3)));
  CHECK(kept.has(keys::job(5)));
}

TEST_CASE("A segment that cannot be read is passed over") {
  History history({});
  history.found(keys::history({0, kStart, 1}), "\x91\x92\x01");
  history.found(keys::history({2, kStart, 1}), "");  // a kind of a newer version
  history.found("h", "");
  CHECK(history.count() == 0);
  CHECK_FALSE(history.purge_due(kStart));
}

}  // namespace headrace::job
