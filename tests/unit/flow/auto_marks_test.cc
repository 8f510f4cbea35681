#include "core/flow/auto_marks.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/base/random.h"

using namespace headrace;

namespace {

unsigned high_after(unsigned parallel, Nanos run_time, Nanos round_trip = Nanos{0}) {
  AutoMarks marks(parallel);
  if (round_trip > Nanos{0}) marks.on_round_trip(round_trip);
  for (int i = 0; i < 100; ++i) marks.on_run(run_time);
  marks.update();
  return marks.marks().high;
}

}  // namespace

TEST_CASE("without a measure there is one place a slot") {
  AutoMarks marks(4);
  CHECK_FALSE(marks.update());
  CHECK(marks.marks() == Marks{4, 3});
  CHECK(AutoMarks(1).marks() == Marks{1, 0});
}

TEST_CASE("the high mark is the slots and what starts within 100 ms") {
  CHECK(high_after(4, Millis{10}) == 44);
  CHECK(high_after(4, Millis{100}) == 8);
  CHECK(high_after(1, Millis{1}) == 101);
}

TEST_CASE("a job longer than the horizon has no other waiting behind it") {
  CHECK(high_after(4, std::chrono::seconds{1}) == 4);
  CHECK(high_after(1, std::chrono::minutes{1}) == 1);
}

TEST_CASE("slow links count two round trips instead") {
  CHECK(high_after(4, Millis{10}, Millis{10}) == 44);
  CHECK(high_after(4, Millis{10}, Millis{200}) == 164);
}

TEST_CASE("the high mark stops at its limit") {
  CHECK(high_after(4, Micros{10}) == limits::kHighWaterMark);
  CHECK(high_after(4, Nanos{0}) == limits::kHighWaterMark);
  CHECK(high_after(limits::kParallel, Micros{10}) == limits::kHighWaterMark);
}

TEST_CASE("marks follow a change, and do not jitter around a steady load") {
  AutoMarks marks(4);
  Random random(1);
  for (int i = 0; i < 200; ++i) marks.on_run(Micros{10'000});
  REQUIRE(marks.update());
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    marks.on_run(Micros{random.between(8'000, 12'000)});
    changes += marks.update();
  }
  CHECK(changes <= 2);
  for (int i = 0; i < 200; ++i) marks.on_run(std::chrono::seconds{2});
  CHECK(marks.update());
  CHECK(marks.marks().high == 4);
}
