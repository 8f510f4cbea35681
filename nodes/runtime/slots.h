// Slots: the runs that one consumer was handed, and the workers that run them, at most `parallel`
// at once and in order.
//
// A worker that has begun goes on from run to run while there are any. The ends of quick runs are
// reported without waking the loop, until a millisecond has passed or nothing is left to run: the
// loop then gets them together, and its mail goes out in one frame. An end that waits behind a long
// run is found at the loop's next period.
//
// add() and withdraw() by the loop; the rest runs on workers. Shared by the loop and the workers that run it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "nodes/runtime/consumer_entry.h"
#include "nodes/runtime/workers.h"

namespace headrace::runtime {

class Slots final : public std::enable_shared_from_this<Slots> {
 public:
  // On a worker. Not `urgent`: the loop need not wake for it.
  using Report = std::function<void(JobEnded, bool urgent)>;

  Slots(Workers& workers, Report report, unsigned parallel)
      : workers_(workers), report_(std::move(report)), parallel_(parallel) {}

  // Takes the runs out of `runs`.
  void add(std::vector<std::shared_ptr<RunningJobState>>& runs);
  // What has not begun: it will not.
  std::deque<std::shared_ptr<RunningJobState>> withdraw();

 private:
  void work();
  std::shared_ptr<RunningJobState> next(bool& last);

  Workers& workers_;
  const Report report_;
  const unsigned parallel_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<RunningJobState>> waiting_;  // guarded by mutex_, as the next
  unsigned working_ = 0;                                  // workers inside work()
};

}  // namespace headrace::runtime
