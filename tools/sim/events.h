// EventQueue: virtual time. What is to happen, by when, then by the order in which it was said.
//
// Owned by a World; one thread. Time only moves from event to event.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/base/time.h"

namespace headrace::sim {

class EventQueue final {
 public:
  using What = std::function<void()>;

  MonoTime now() const { return now_; }
  std::uint64_t done() const { return done_; }

  // A time that has passed means now.
  void at(MonoTime when, What what) {
    waiting_.push({std::max(when, now_), ++said_, std::move(what)});
  }
  void after(Nanos delay, What what) { at(now_ + delay, std::move(what)); }

  // The next event, if it comes until then; else time moves there.
  bool run_next(MonoTime until) {
    if (waiting_.empty() || waiting_.top().when > until) {
      now_ = std::max(now_, until);
      return false;
    }
    // The top of a priority_queue is const; it is popped at once.
    auto event = std::move(const_cast<Event&>(waiting_.top()));
    waiting_.pop();
    now_ = event.when;
    ++done_;
    event.what();
    return true;
  }
  void run_until(MonoTime until) {
    while (run_next(until)) {
    }
  }

 private:
  struct Event {
    MonoTime when;
    std::uint64_t said;
    What what;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : said > other.said;
    }
  };

  MonoTime now_{std::chrono::seconds{1000}};
  std::uint64_t said_ = 0;
  std::uint64_t done_ = 0;
  std::priority_queue<Event> waiting_;
};

}  // namespace headrace::sim
