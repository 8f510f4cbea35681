#include <algorithm>
#include <catch2/catch.hpp>

#include "window_runs.h"

using namespace headrace;
using namespace headrace::flow_test;

TEST_CASE("the window costs no more than its bounds") {
  for (const auto& bound : cost_bounds()) {
    const double value = bound.measure();
    INFO(bound.name << ": " << value << ", the bound is " << bound.bound);
    CHECK(bound.keeps(value));
  }
}

TEST_CASE("busy senders share places fairly, and leave no slot empty") {
  const Cost few = steady_cost({.senders = 4, .high = 8, .low = 4});
  CHECK(few.slots_used > 0.99);
  CHECK(few.unfair < 0.02);
  const Cost many = steady_cost({.senders = 4, .high = 64, .low = 32, .job_mean = kMs});
  CHECK(many.slots_used > 0.99);
  CHECK(many.unfair < 0.02);
  CHECK(many.messages_an_item < 0.25);
  const Cost net =
      steady_cost({.receivers = 3, .senders = 3, .high = 16, .low = 8, .job_mean = 5 * kMs});
  CHECK(net.slots_used > 0.99);
  CHECK(net.unfair < 0.02);
}

TEST_CASE("one sender alone needs few messages") {
  const Cost cost = steady_cost({.high = 64, .low = 32, .job_mean = kMs});
  CHECK(cost.slots_used > 0.99);
  CHECK(cost.messages_an_item < 0.12);
}

TEST_CASE("senders of different weight get places by weight") {
  const Cost cost =
      steady_cost({.senders = 3, .high = 64, .low = 32, .weights = {1, 2, 4}, .job_mean = kMs});
  CHECK(cost.slots_used > 0.99);
  CHECK(cost.unfair < 0.1);
}

TEST_CASE("an idle window costs nothing, and an idle start no round trip") {
  World world({.senders = 2, .high = 16, .low = 8, .job_mean = 20 * kMs}, 1);
  for (int s = 0; s < 2; ++s) world.add_jobs(s, 3, 1);
  world.run_until(30 * kPeriod);
  const auto messages = world.window_messages();
  world.run_until(90 * kPeriod);
  CHECK(world.window_messages() == messages);
  const Time start = world.now() + 10;
  world.add_jobs(1, 1, start);
  while (world.held_of(1) == 0 && world.now() < start + kPeriod) world.step();
  CHECK(world.now() <= start + 300);  // one way
}

TEST_CASE("a newcomer consumer gets work within two round trips of its start") {
  World world({.receivers = 3, .senders = 3, .high = 16, .low = 8, .job_mean = 20 * kMs}, 1);
  world.crash(2, 1000 * kPeriod);
  for (int s = 0; s < 3; ++s) world.add_jobs(s, 2000, 1);
  world.run_until(20 * kPeriod);
  world.restart(2);
  const Time start = world.now();
  while (world.first_start(2) < 0 && world.now() < start + kPeriod) world.step();
  CHECK(world.now() <= start + 4 * 300);
}

TEST_CASE("the unused credit of a stopped sender serves another within three periods") {
  World world({.senders = 2, .high = 16, .low = 8, .job_mean = 20 * kMs}, 1);
  world.add_jobs(0, 3, 1);
  world.run_until(20 * kPeriod);
  world.stop(world.node_of_sender(0));
  const Time start = world.now();
  world.add_jobs(1, 50, start);
  while (world.held_of(1) == 0 && world.now() < start + 20 * kPeriod) world.step();
  CHECK(world.now() <= start + 4 * kPeriod);
}
