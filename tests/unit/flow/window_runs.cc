#include "window_runs.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace headrace::flow_test {
namespace {

template <typename T>
T one_of(Random& random, std::initializer_list<T> values) {
  return *(values.begin() + random.below(values.size()));
}

Shape random_shape(std::uint64_t seed, Random& random) {
  Shape shape;
  const int kind = static_cast<int>(seed % 5);
  shape.receivers = kind == 4 ? 3 : 1;
  shape.senders = kind == 4 ? 3 : kind + 1;
  shape.high = one_of(random, {1u, 2u, 3u, 5u, 8u, 16u, 64u});
  shape.slots = one_of(random, {1u, 2u, 4u, 8u});
  shape.low = random.chance(0.5) ? default_low(shape.high, shape.slots)
                                 : std::min(shape.slots, shape.high - 1);
  shape.job_mean = one_of<Time>(random, {kMs / 10, 2 * kMs, 20 * kMs, 100 * kMs});
  shape.lengths = static_cast<Lengths>(random.below(3));
  if (random.chance(0.25)) shape.delay_max = 30 * kMs;
  if (random.chance(0.17)) shape.data_extra = one_of(random, {kPeriod / 2, 3 * kPeriod});
  if (random.chance(0.3)) shape.turn = one_of(random, {kMs / 5, 5 * kMs});
  if (random.chance(0.2))
    for (int s = 0; s < shape.senders; ++s)
      shape.weights.push_back(static_cast<std::uint64_t>(random.between(1, 4)));
  return shape;
}

Faults random_faults(Random& random) {
  Faults faults;
  faults.lose = one_of(random, {0.0, 0.0, 0.05, 0.3, 0.5});
  faults.repeat = one_of(random, {0.0, 0.1, 0.5});
  faults.late = one_of(random, {0.0, 0.05, 0.3});
  faults.break_lane = one_of(random, {0.0, 5.0, 40.0});
  faults.stop = one_of(random, {0.0, 0.5, 3.0});
  faults.crash = one_of(random, {0.0, 0.5, 3.0});
  faults.false_death = one_of(random, {0.0, 0.5, 5.0});
  faults.remark = one_of(random, {0.0, 0.0, 0.0, 2.0});
  faults.swallow = one_of(random, {0.0, 0.0, 1.0, 5.0});
  faults.give_up = one_of(random, {0.0, 0.0, 5.0});
  return faults;
}

// A quarter of full speed and four one-way delays for each window, and slack.
Time patience(const Shape& shape, int jobs) {
  const double mean =
      static_cast<double>(shape.job_mean) * (shape.lengths == Lengths::kFewLong ? 3.5 : 1);
  const double slots = std::min(shape.slots, shape.high) * shape.receivers;
  const double way = static_cast<double>(4 * (shape.delay_max + shape.data_extra + 2 * shape.turn));
  return static_cast<Time>(jobs * (4 * mean / slots + way / shape.high)) + 150 * shape.job_mean +
         30 * kPeriod;
}

void run(World& world, const Shape& shape, Random& random) {
  const Time faults_end = (random.chance(0.125) ? 100 : 30) * kPeriod;
  world.start_faults(random_faults(random));
  int jobs = 5 * shape.senders;
  for (int s = 0; s < shape.senders; ++s)
    for (auto bursts = random.below(6); bursts > 0; --bursts) {
      const int count = one_of(random, {1, 3, 20, 60});
      jobs += count;
      world.add_jobs(s, count, random.between(0, faults_end - 1));
    }
  world.run_until(faults_end);
  world.heal();
  for (int s = 0; s < shape.senders; ++s) world.add_jobs(s, 5, world.now() + 1);
  world.run_until(world.now() + 10);
  const Time deadline = world.now() + patience(shape, jobs);
  while (world.now() < deadline && !world.all_done()) world.step();
  require(world.all_done(), "work is left undone long after the faults ended");
  // Jobs that were run twice may still be at it.
  while (world.now() < deadline + 10'000 * kPeriod && !world.nothing_held()) world.step();
  world.run_until(world.now() + 20 * kPeriod);
  world.require_rest();
  const auto messages = world.window_messages();
  world.run_until(world.now() + 20 * kPeriod);
  require(world.window_messages() == messages, "messages are sent at rest");
}

double four_on_two_places() {
  return steady_cost({.senders = 4, .high = 2, .low = 1, .slots = 2}).slots_used;
}

// High mark 64; the three were served once and hold spread credit.
double one_busy() {
  World world({.senders = 4, .high = 64, .low = 32, .job_mean = kMs}, 3);
  for (int s = 0; s < 4; ++s) world.add_jobs(s, 1, 1);
  world.run_until(10 * kPeriod);
  world.add_jobs(0, 30'000, world.now());
  world.run_until(world.now() + 5 * kPeriod);
  world.reset_measure();
  world.run_until(world.now() + 50 * kPeriod);
  return world.messages_an_item();
}

// A thousand jobs a second, a quarter of what the slots could do.
double quarter_load() {
  World world({.senders = 4, .high = 64, .low = 32, .job_mean = kMs}, 4);
  for (int i = 0; i < 3000; ++i) world.add_jobs(i % 4, 1, 1 + i * kMs);
  world.run_until(32 * kPeriod);
  return world.messages_an_item();
}

double swallowed_lane() {
  World world({.senders = 2, .high = 4, .low = 3, .job_mean = 20 * kMs}, 5);
  world.set_lane(0, 0, World::LaneState::kSwallowsData);
  world.add_jobs(0, 6000, 1);
  world.add_jobs(1, 6000, 1);
  world.run_until(10 * kPeriod);
  world.reset_measure();
  world.run_until(world.now() + 200 * kPeriod);
  return world.slots_used();
}

}  // namespace

std::string random_run(std::uint64_t seed, std::int64_t* steps) {
  Random random(seed * 7919 + 1);
  const Shape shape = random_shape(seed, random);
  World world(shape, seed);
  std::string breach;
  try {
    run(world, shape, random);
  } catch (const Violation& violation) {
    breach = violation.what;
  }
  if (steps != nullptr) *steps += world.steps();
  return breach;
}

Cost steady_cost(const Shape& shape) {
  World world(shape, 1);
  const Time warm = 10 * kPeriod, length = 60 * kPeriod;
  const double slots = std::min(shape.slots, shape.high) * shape.receivers;
  const int jobs = 200 + static_cast<int>(1.5 * static_cast<double>(warm + length) * slots /
                                          static_cast<double>(shape.job_mean));
  for (int s = 0; s < shape.senders; ++s) world.add_jobs(s, jobs, 1);
  world.run_until(warm);
  world.reset_measure();
  world.run_until(warm + length);
  Cost cost{world.slots_used(), world.messages_an_item(), 0};
  std::uint64_t weights = 0;
  for (int s = 0; s < shape.senders; ++s)
    weights += shape.weights.empty() ? 1 : shape.weights[static_cast<std::size_t>(s)];
  const auto places = world.places();
  for (std::size_t s = 0; s < places.size(); ++s) {
    const auto weight = static_cast<double>(shape.weights.empty() ? 1 : shape.weights[s]);
    cost.unfair =
        std::max(cost.unfair, std::abs(places[s] * static_cast<double>(weights) / weight - 1));
  }
  return cost;
}

const std::vector<CostBound>& cost_bounds() {
  static const std::vector<CostBound> bounds{
      {"slots used by four senders of two places", four_on_two_places, 0.85, true},
      {"messages an item, one busy sender beside three idle", one_busy, 0.12, false},
      {"messages an item at a quarter of the load", quarter_load, 0.5, false},
      {"slots used beside a lane that swallows", swallowed_lane, 0.9, true},
  };
  return bounds;
}

}  // namespace headrace::flow_test
