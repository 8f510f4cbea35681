#include "core/flow/auto_marks.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"

namespace headrace {
namespace {

constexpr double kHorizon = 100e6;  // ns
constexpr unsigned kMemory = 32;    // runs that the mean looks back upon
constexpr double kUp = 1.1, kDown = 0.8;

Marks marks_for(unsigned parallel, unsigned ahead) {
  const auto high = std::min(parallel + ahead, limits::kHighWaterMark);
  return {high, default_low(high, parallel)};
}

}  // namespace

AutoMarks::AutoMarks(unsigned parallel) : parallel_(parallel), marks_(marks_for(parallel, 0)) {
  HEADRACE_CHECK(parallel >= 1 && parallel <= limits::kParallel);
}

void AutoMarks::on_run(Nanos run_time) {
  runs_ = std::min(runs_ + 1, kMemory);
  mean_run_ += (static_cast<double>(run_time.count()) - mean_run_) / runs_;
}

void AutoMarks::on_round_trip(Nanos round_trip) {
  const auto value = static_cast<double>(round_trip.count());
  round_trip_ = round_trip_ == 0 ? value : round_trip_ + (value - round_trip_) / 8;
}

unsigned AutoMarks::starts_within(Nanos time) const {
  if (runs_ == 0) return 0;
  const double run = std::max(mean_run_, 1000.0);  // a microsecond: nothing is run faster
  const double starts = static_cast<double>(time.count()) * parallel_ / run;
  return static_cast<unsigned>(std::min(starts, double{limits::kHighWaterMark}));
}

bool AutoMarks::update() {
  if (runs_ == 0) return false;
  const Nanos horizon{static_cast<Nanos::rep>(std::max(kHorizon, 2 * round_trip_))};
  const unsigned starts = starts_within(horizon);
  if (starts >= kUp * (ahead_ + 1) || starts < kDown * ahead_)
    ahead_ = starts;
  const Marks before = marks_;
  marks_ = marks_for(parallel_, ahead_);
  return marks_ != before;
}

}  // namespace headrace
