#include "core/job/record.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/job/info_codec.h"
#include "core/job/job_owner.h"
#include "core/job/lookup.h"

namespace headrace::job {
namespace {

const WallTime kWhen{Micros{1'790'000'000'123'456}};

Job full_job() {
  Job job;
  job.number = 77;
  job.id = JobId::from_halves(1, 2);
  job.foreign_id = true;
  job.topic = 300;
  job.priority = 9;
  job.level = Level::kOs;
  job.attempts = 3;
  job.deliveries = 5;
  job.max_attempts = 1000;
  job.added = kWhen;
  job.due = kWhen + Micros{1};
  job.params = "\x81\xa1k\x01";
  job.payload = "payload";
  job.payload_bytes = 7;
  job.errors = {"one", "", "three"};
  job.answered = {UINT64_MAX, 12};
  job.state = JobState::kGivenUp;
  job.consumer = NodeId::from_halves(3, 4);
  job.started = kWhen + Micros{2};
  job.finished = kWhen + Micros{3};
  job.result = "\xc0";
  job.error = "three";
  return job;
}

Bytes encoded(const Job& job) {
  Bytes bytes;
  encode(bytes, job);
  return bytes;
}

JobInfo full_info() {
  JobInfo info;
  info.id = JobId::from_halves(1, 2);
  info.topic = "a.b";
  info.queue = "default";
  info.state = JobState::kSucceeded;
  info.level = Level::kMemory;
  info.priority = 0;
  info.attempt = 2;
  info.max_attempts = 4;
  info.deliveries = 3;
  info.owner = NodeId::from_halves(5, 6);
  info.consumer = NodeId::from_halves(7, 8);
  info.added = kWhen;
  info.not_before = kWhen + Micros{1};
  info.started = kWhen + Micros{2};
  info.finished = kWhen + Micros{3};
  info.result = Value(std::int64_t{-5});
  info.error = "went wrong";
  info.errors = {"went wrong"};
  return info;
}

}  // namespace

TEST_CASE("A job's record gives back every field that is stored") {
  const Job job = full_job();
  const auto back = decode_job(77, encoded(job));
  REQUIRE(back);
  CHECK(back->number == 77);
  CHECK(back->id == job.id);
  CHECK(back->foreign_id);
  CHECK(back->queue == 1);
  CHECK(back->topic == 300);
  CHECK(back->priority == 9);
  CHECK(back->level == Level::kOs);
  CHECK(back->attempts == 3);
  CHECK(back->deliveries == 5);
  CHECK(back->max_attempts == 1000);
  CHECK(back->added == job.added);
  CHECK(back->due == job.due);
  CHECK(back->params == job.params);
  CHECK(back->payload == job.payload);
  CHECK(back->payload_bytes == 7);
  CHECK(back->errors == job.errors);
  CHECK(back->answered == job.answered);
  CHECK(back->state == JobState::kGivenUp);
  CHECK(back->consumer == job.consumer);
  CHECK(back->started == job.started);
  CHECK(back->finished == job.finished);
  CHECK(back->result == job.result);
  CHECK(back->error == "three");
}

TEST_CASE("A job's record leaves unset what is unset") {
  const auto back = decode_job(1, encoded(Job{}));
  REQUIRE(back);
  CHECK_FALSE(back->due);
  CHECK_FALSE(back->consumer);
  CHECK_FALSE(back->started);
  CHECK_FALSE(back->finished);
  CHECK(back->state == JobState::kQueued);
}

TEST_CASE("A payload up to 4096 bytes stands in the job's record, a larger one does not") {
  Job job;
  job.payload = Bytes(4096, 'x');
  job.payload_bytes = 4096;
  CHECK_FALSE(job.payload_apart());
  CHECK(decode_job(1, encoded(job))->payload == job.payload);
  job.payload += 'x';
  job.payload_bytes = 4097;
  CHECK(job.payload_apart());
  const auto back = decode_job(1, encoded(job));
  CHECK(back->payload.empty());
  CHECK(back->payload_bytes == 4097);
}

TEST_CASE("A record that is cut anywhere is an error of the store") {
  const Bytes whole = encoded(full_job());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto back = decode_job(77, BytesView(whole).substr(0, size));
    REQUIRE_FALSE(back);
    REQUIRE(back.error().code == Code::kStore);
  }
  Bytes dispatch;
  encode(dispatch, Dispatch{{1, 2}, NodeId::from_halves(1, 1), 3, 4, 5, kWhen});
  for (std::size_t size = 0; size < dispatch.size(); ++size) {
    REQUIRE(decode_dispatch(BytesView(dispatch).substr(0, size)).error().code == Code::kStore);
  }
}

TEST_CASE("A record with bits turned over is read or refused, and nothing worse") {
  const Bytes whole = encoded(full_job());
  Random random(3);
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    Bytes damaged = whole;
    for (auto n = 1 + random.below(3); n > 0; --n) {
      damaged[random.below(damaged.size())] ^= static_cast<char>(1 + random.below(255));
    }
    const auto back = decode_job(77, damaged);
    if (!back) {
      ++refused;
      continue;
    }
    REQUIRE(back->priority <= 9);
    REQUIRE(back->state <= kLastJobState);
    REQUIRE(back->payload.size() <= kPayloadInRow);
  }
  CHECK(refused > 0);
}

TEST_CASE("A dispatch's record gives back every field") {
  Bytes bytes;
  encode(bytes, Dispatch{{11, 22}, NodeId::from_halves(1, 9), 33, 44, 55, kWhen});
  const auto back = decode_dispatch(bytes);
  REQUIRE(back);
  CHECK(back->token == wire::Token{11, 22});
  CHECK(back->consumer == NodeId::from_halves(1, 9));
  CHECK(back->consumer_incarnation == 33);
  CHECK(back->consumer_number == 44);
  CHECK(back->deliveries == 55);
  CHECK(back->started == kWhen);
}

TEST_CASE("What a reply says of jobs comes back as it was") {
  const JobInfo info = full_info();
  JobInfo bare;
  bare.topic = "x";
  const auto back = decode_infos(encode_infos({info, bare}));
  REQUIRE(back);
  REQUIRE(back->size() == 2);
  const JobInfo& one = back->front();
  CHECK(one.id == info.id);
  CHECK(one.topic == info.topic);
  CHECK(one.queue == info.queue);
  CHECK(one.state == info.state);
  CHECK(one.level == info.level);
  CHECK(one.priority == 0);
  CHECK(one.attempt == 2);
  CHECK(one.max_attempts == 4);
  CHECK(one.deliveries == 3);
  CHECK(one.owner == info.owner);
  CHECK(one.consumer == info.consumer);
  CHECK(one.added == info.added);
  CHECK(one.not_before == info.not_before);
  CHECK(one.started == info.started);
  CHECK(one.finished == info.finished);
  CHECK(one.result == info.result);
  CHECK(one.error == info.error);
  CHECK(one.errors == info.errors);
  CHECK_FALSE(back->back().consumer);
  CHECK_FALSE(back->back().result);
  CHECK_FALSE(back->back().started);
}

TEST_CASE("A reply about jobs that is cut short is an error") {
  const Bytes whole = encode_infos({full_info()});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE_FALSE(decode_infos(BytesView(whole).substr(0, size)));
  }
}

// 1 s, doubling, at most 10 min; a quarter either way.
TEST_CASE("The pause before a retry doubles from a second to ten minutes, a quarter either way") {
  const std::vector<std::pair<unsigned, std::int64_t>> table = {
      {1, 1},  {2, 2},   {3, 4},   {4, 8},    {5, 16},   {6, 32},
      {7, 64}, {8, 128}, {9, 256}, {10, 512}, {11, 600}, {1000, 600}};
  for (const auto& [failed, seconds] : table) {
    INFO("after " << failed);
    CHECK(backoff(failed, 0.5) == Millis{seconds * 1000});
    CHECK(backoff(failed, 0.0) == Millis{seconds * 750});
    CHECK(backoff(failed, 0.999999) < Millis{seconds * 1250});
    CHECK(backoff(failed, 0.999999) >= Millis{seconds * 1249});
  }
}

TEST_CASE("A new job is taken at each limit and refused one past it") {
  NewJob job;
  job.topic = "a";
  CHECK(check_new(job));
  const auto refused = [](const NewJob& bad, Code code = Code::kInvalid) {
    const auto checked = check_new(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == code);
    return checked.error().message;
  };
  SECTION("priority") {
    job.priority = 9;
    CHECK(check_new(job));
    job.priority = 10;
    CHECK(refused(job).find("10") != std::string::npos);
  }
  SECTION("attempts") {
    job.max_attempts = limits::kAttempts;
    CHECK(check_new(job));
    job.max_attempts = limits::kAttempts + 1;
    CHECK(refused(job).find("1001") != std::string::npos);
    job.max_attempts = 0;
    refused(job);
    job.max_attempts = 1;
    CHECK(check_new(job));
  }
  SECTION("payload") {
    job.payload = Bytes(limits::kJobPayloadBytes, 'x');
    CHECK(check_new(job));
    job.payload += 'x';
    CHECK(refused(job).find("16777217") != std::string::npos);
  }
  SECTION("parameters") {
    job.params = Bytes(limits::kParamsBytes, 'x');
    CHECK(check_new(job));
    job.params += 'x';
    refused(job);
  }
  SECTION("topic") {
    job.topic = "a..b";
    refused(job);
    job.topic = "a.*";
    refused(job);
    job.topic = "";
    refused(job);
    job.topic = "$sys.job";
    refused(job, Code::kForbidden);
  }
  SECTION("id") {
    job.id = JobId{};
    refused(job);
    job.id = JobId::from_halves(0, 1);
    CHECK(check_new(job));
  }
}

TEST_CASE("A job's state is what is stored, its dispatch, and its time") {
  Job job;
  const auto show = [&](const Dispatch* dispatch) {
    return to_info(job, dispatch, "t", NodeId{}, kWhen);
  };
  CHECK(show(nullptr).state == JobState::kQueued);
  job.due = kWhen + Micros{1};
  CHECK(show(nullptr).state == JobState::kDelayed);
  CHECK(show(nullptr).not_before == job.due);
  job.due = kWhen;
  CHECK(show(nullptr).state == JobState::kQueued);
  job.attempts = 2;
  job.deliveries = 2;
  const Dispatch dispatch{{1, 1}, NodeId::from_halves(1, 1), 1, 1, 3, kWhen};
  const auto active = show(&dispatch);
  CHECK(active.state == JobState::kActive);
  CHECK(active.attempt == 3);
  CHECK(active.deliveries == 3);
  CHECK(active.consumer == dispatch.consumer);
  CHECK(active.started == kWhen);
}

TEST_CASE("Job states and levels have one text each") {
  for (auto number = 1u; number <= static_cast<unsigned>(kLastJobState); ++number) {
    const auto state = static_cast<JobState>(number);
    CHECK(parse_job_state(to_string(state)) == state);
  }
  CHECK_FALSE(parse_job_state("UNKNOWN"));
  CHECK_FALSE(parse_job_state("queued"));
  for (const auto level : {Level::kDisk, Level::kOs, Level::kMemory})
    CHECK(parse_level(to_string(level)) == level);
  CHECK_FALSE(parse_level("DISK"));
}

}  // namespace headrace::job
