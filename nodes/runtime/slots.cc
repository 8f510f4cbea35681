#include "nodes/runtime/slots.h"

#include <iterator>
#include <utility>

#include "nodes/runtime/clock.h"

namespace headrace::runtime {

namespace {

constexpr Millis kTogether{1};  // ends that come within it are reported together

}  // namespace

void Slots::add(std::vector<std::shared_ptr<RunningJobState>>& runs) {
  std::size_t fresh = 0;
  {
    const std::lock_guard lock(mutex_);
    std::move(runs.begin(), runs.end(), std::back_inserter(waiting_));
    while (working_ < parallel_ && fresh < runs.size()) {
      ++working_;
      ++fresh;
    }
  }
  runs.clear();
  std::vector<Workers::Task> tasks;
  for (; fresh > 0; --fresh) tasks.push_back([self = shared_from_this()] { self->work(); });
  workers_.push(tasks);
}

std::deque<std::shared_ptr<RunningJobState>> Slots::withdraw() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

// Null, and the slot given up, if there is nothing to run. `last`: nothing waits behind it.
std::shared_ptr<RunningJobState> Slots::next(bool& last) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    --working_;
    return nullptr;
  }
  auto run = std::move(waiting_.front());
  waiting_.pop_front();
  last = waiting_.empty();
  return run;
}

void Slots::work() {
  auto started = mono_now();
  auto reported = started;
  bool last = false;
  while (const auto run = next(last)) {
    JobEnded ended{run->era, run->run, run_handler(*run), {}};
    const auto now = mono_now();
    ended.took = now - std::exchange(started, now);
    const bool urgent = last || now - reported >= kTogether;
    if (urgent) reported = now;
    report_(std::move(ended), urgent);
  }
}

}  // namespace headrace::runtime
