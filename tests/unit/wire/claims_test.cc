// Claims in as many messages as they take.
#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/wire/job.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

std::vector<JobClaim> claims(std::size_t count) {
  std::vector<JobClaim> all;
  for (std::uint64_t i = count; i > 0; --i) {
    all.push_back({UINT64_MAX - 2 * count + 2 * i, {UINT64_MAX, UINT64_MAX - i}});
  }
  return all;
}

}  // namespace

TEST_CASE("No claims are one message that speaks for all numbers") {
  const auto messages = in_messages({});
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].jobs.empty());
  CHECK((messages[0].first == 0 && messages[0].last == UINT64_MAX));
}

TEST_CASE("Claims up to the limit are one message, one more makes it two, and each fits a frame") {
  CHECK(in_messages(claims(limits::kClaims)).size() == 1);
  const auto messages = in_messages(claims(limits::kClaims + 1));
  REQUIRE(messages.size() == 2);
  for (const auto& message : messages) {
    Bytes bytes;
    encode(bytes, message);
    CHECK(bytes.size() < limits::kFrameBytes - 1024);
    Reader in(bytes);
    REQUIRE(in.array(4) == 4);
    REQUIRE(in.u64() == number(Kind::kJobClaims));
    JobClaims read;
    CHECK(decode(in, read));
    CHECK(read.jobs.size() == message.jobs.size());
  }
}

TEST_CASE("The ranges of the messages lie end to end and hold their claims") {
  const auto all = claims(2 * limits::kClaims + 7);
  const auto messages = in_messages(all);
  REQUIRE(messages.size() == 3);
  CHECK(messages.front().first == 0);
  CHECK(messages.back().last == UINT64_MAX);
  std::size_t count = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (i > 0) CHECK(messages[i].first == messages[i - 1].last + 1);
    for (const auto& claim : messages[i].jobs) {
      ++count;
      if (claim.job_number < messages[i].first || claim.job_number > messages[i].last) FAIL();
    }
  }
  CHECK(count == all.size());
}

TEST_CASE("Claims of one job are never parted") {
  std::vector<JobClaim> all;
  for (std::uint64_t i = 0; i < limits::kClaims + 3; ++i) all.push_back({i < 5 ? i : 7, {1, i}});
  all.push_back({8, {1, 9}});
  const auto messages = in_messages(all);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].last == 7);
  CHECK(messages[1].jobs.size() == 1);
}

}  // namespace headrace::wire
