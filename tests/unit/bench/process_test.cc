#include "tools/bench/process.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <stdexcept>

using namespace headrace;
using namespace headrace::bench;

namespace {

struct Board {
  std::atomic<std::uint32_t> started{0};
  std::atomic<std::uint32_t> released{0};
};

// Says that it runs, then waits far longer than any test.
Crew::Role waiting(Shared<Board>& board) {
  return [&board]() -> Result<void> {
    ++board->started;
    return await(board->released, 1, Millis{60'000}, "release");
  };
}

bool runs(pid_t pid) { return kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("roles run in processes of their own and share a page") {
  Shared<Board> board;
  Crew crew;
  REQUIRE(crew.start("one", std::nullopt, waiting(board)));
  REQUIRE(crew.start("two", std::nullopt, waiting(board)));
  CHECK(crew.pid("one") > 0);
  CHECK(crew.pid("one") != crew.pid("two"));
  CHECK(crew.pid("three") == -1);
  REQUIRE(await(board->started, 2, Millis{10'000}, "both"));
  board->released = 1;
  CHECK(crew.wait(Millis{10'000}));
  CHECK(crew.pid("one") == -1);
}

TEST_CASE("a role that fails is named with its reason, and ends the others") {
  Shared<Board> board;
  Crew crew;
  REQUIRE(crew.start("patient", std::nullopt, waiting(board)));
  pid_t patient = crew.pid("patient");

  SECTION("by an error") {
    REQUIRE(crew.start("hasty", std::nullopt,
                       [] { return Result<void>(fail(Code::kFull, "no room")); }));
    CHECK(crew.wait(Millis{10'000}).error().message == "hasty: no room");
  }
  SECTION("by an exception") {
    REQUIRE(crew.start("hasty", std::nullopt,
                       []() -> Result<void> { throw std::runtime_error("no luck"); }));
    CHECK(crew.wait(Millis{10'000}).error().message == "hasty: no luck");
  }
  SECTION("by a signal") {
    REQUIRE(crew.start("hasty", std::nullopt, waiting(board)));
    kill(crew.pid("hasty"), SIGKILL);
    CHECK(crew.wait(Millis{10'000}).error().message == "hasty was ended by signal 9");
  }
  CHECK_FALSE(runs(patient));
}

TEST_CASE("a crew that is not done in time ends its roles and says so") {
  Shared<Board> board;
  Crew crew;
  REQUIRE(crew.start("patient", std::nullopt, waiting(board)));
  pid_t patient = crew.pid("patient");
  unsigned ticks = 0;
  Result<void> ended = crew.wait(Millis{300}, [&] { ++ticks; });
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == Code::kTimeout);
  CHECK(ticks > 0);
  CHECK_FALSE(runs(patient));
}

TEST_CASE("a rate runs from the earliest first to the latest last, without the first of each") {
  Tally tallies[3];
  tallies[0].count = 11, tallies[0].first_ns = 1'000'000'000, tallies[0].last_ns = 2'000'000'000;
  tallies[1].count = 31, tallies[1].first_ns = 1'500'000'000, tallies[1].last_ns = 3'000'000'000;
  CHECK(rate_of(tallies, 3) == Approx(20.0));  // 10 + 30 over two seconds; the third got nothing
  CHECK(rate_of(tallies + 2, 1) == 0);
}
