// What the checkers conclude from what they are told, one by one.
#include "tools/sim/ledger.h"

#include <catch2/catch.hpp>

#include "core/job/record.h"
#include "core/store/keys.h"
#include "core/store/record.h"

namespace headrace::sim {
namespace {

constexpr std::uint64_t kNumber = 1;
const wire::Token kToken{7, 1};

// One owner with a shadow of its disk, and one job that was added there.
struct Books {
  Ledger ledger{true};
  Shadow shadow{[this](const Shadow::Row* before, std::uint64_t, const Shadow::Row& row) {
    ledger.row_put(0, before, row);
  }};
  NodeId consumer = NodeId::from_halves(1, 2);
  JobId id = JobId::from_halves(3, 4);
  Tag tag = 0;

  Books() {
    ledger.add_machine(&shadow, NodeId::from_halves(1, 1));
    ledger.add_machine(&shadow, consumer);
    JobPlan plan;
    plan.topic = "work.a";
    tag = ledger.track(plan).plan.tag;
    ledger.asked(tag, 0);
  }

  void write_job(JobState state, wire::Token answered = {}) {
    job::Job job;
    job.number = kNumber;
    job.id = id;
    job.state = state;
    job.answered = answered;
    Bytes body;
    encode(body, job);
    WriteBatch batch;
    record::put(batch, keys::job(kNumber), job::kRecordVersion, body);
    shadow.write(batch);
  }
  void write_dispatch() {
    job::Dispatch dispatch;
    dispatch.token = kToken;
    dispatch.consumer = consumer;
    Bytes body;
    encode(body, dispatch);
    WriteBatch batch;
    record::put(batch, keys::active(kNumber), job::kRecordVersion, body);
    shadow.write(batch);
  }
  void send_item() {
    const Bytes params = params_of(tag);
    wire::JobItem item;
    item.token = kToken;
    item.job_number = kNumber;
    item.params = params;
    ledger.item_sent(0, consumer, item);
  }
  void send_ack() {
    wire::JobDoneAck ack;
    ack.life = kToken.life;
    ack.accepted = {kToken.number};
    ledger.ack_sent(0, ack);
  }
  bool held(Check check) const { return ledger.broken(check).empty(); }
};

TEST_CASE("an add that is acknowledged after its sync is well") {
  Books books;
  books.write_job(JobState::kQueued);
  books.shadow.sync();
  books.ledger.added(books.tag, books.id, Level::kDisk);
  REQUIRE(books.ledger.holds_all());
}

TEST_CASE("an add of level disk that is acknowledged before its sync breaks the rule") {
  Books books;
  books.write_job(JobState::kQueued);
  books.ledger.added(books.tag, books.id, Level::kDisk);
  REQUIRE_FALSE(books.held(Check::kBeforeCommit));
}

TEST_CASE("an item whose dispatch is written and not synced leaves too soon") {
  Books books;
  books.write_job(JobState::kQueued);
  books.shadow.sync();
  books.write_dispatch();
  books.send_item();
  REQUIRE_FALSE(books.held(Check::kBeforeCommit));
}

TEST_CASE("a completion that is accepted before its row is synced is told too soon") {
  Books books;
  books.write_job(JobState::kQueued);
  books.write_dispatch();
  books.shadow.sync();
  books.send_item();
  books.ledger.run_ended(kToken, JobEnd::Kind::kOk);
  books.write_job(JobState::kSucceeded, kToken);
  SECTION("too soon") {
    books.send_ack();
    REQUIRE_FALSE(books.held(Check::kBeforeCommit));
  }
  SECTION("in time") {
    books.shadow.sync();
    books.send_ack();
    REQUIRE(books.ledger.holds_all());
  }
}

TEST_CASE("a token that is given twice is two runs under one name") {
  Books books;
  books.write_dispatch();
  books.shadow.sync();
  books.send_item();
  books.send_item();
  REQUIRE_FALSE(books.held(Check::kOneOutcome));
}

TEST_CASE("a mark that is lowered below what is held is no fault until that grows") {
  Books books;
  books.ledger.holds(0, 5, 5, 4);
  REQUIRE(books.held(Check::kHighWater));
  books.ledger.holds(0, 6, 5, 4);
  REQUIRE_FALSE(books.held(Check::kHighWater));
}

TEST_CASE(
    "an acknowledged job that a restart does not find is lost, unless its level allows that") {
  Books books;
  books.write_job(JobState::kQueued);
  books.shadow.sync();
  books.ledger.added(books.tag, books.id, Level::kDisk);
  WriteBatch gone;
  gone.erase(keys::job(kNumber));
  books.shadow.write(gone);
  SECTION("level disk") {
    books.ledger.process_ended(0, true);
    books.ledger.reopened(0);
    REQUIRE_FALSE(books.held(Check::kNothingLost));
  }
  SECTION("level os") {
    books.ledger.job(books.tag).plan.level = Level::kOs;
    books.ledger.process_ended(0, true);
    books.ledger.reopened(0);
    REQUIRE(books.held(Check::kNothingLost));
  }
}

}  // namespace
}  // namespace headrace::sim
