// The marks of a consumer that names none: its slots, and as many jobs as measured run times say
// will start within the larger of 100 ms and two round trips. So a minute-long job never has
// another waiting behind it, and tiny jobs are not starved by round trips.
//
// Owned by the consumer's intake. Feed it with each run time and with round trips as they are
// measured; apply marks() when update() says that they have changed. Both estimates are running
// means; marks move only when the estimate leaves a band around them, so that they do not jitter.
#pragma once

#include "core/base/time.h"
#include "core/flow/marks.h"

namespace headrace {

class AutoMarks final {
 public:
  // 1 to limits::kParallel slots. Begins with one place a slot: nothing is known yet.
  explicit AutoMarks(unsigned parallel);

  void on_run(Nanos run_time);
  void on_round_trip(Nanos round_trip);

  // True if the marks are others than before.
  bool update();
  Marks marks() const { return marks_; }
  // Jobs that the slots are likely to start within `time`; 0 while nothing is known.
  unsigned starts_within(Nanos time) const;

 private:
  unsigned parallel_;
  unsigned ahead_ = 0;  // places beyond the slots
  Marks marks_;
  double mean_run_ = 0;  // ns
  unsigned runs_ = 0;    // that the mean is over; stops at its memory
  double round_trip_ = 0;
};

}  // namespace headrace
