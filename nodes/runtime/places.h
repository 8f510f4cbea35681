// Places: how many calls may be under way, and how many bytes they may hold. Who finds none waits.
//
// Any thread. A call alone is let in however large it is. After a full house waiters are let in
// once a quarter is free again, so that a fast caller sleeps seldom and long rather than once a
// call.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "core/base/error.h"
#include "core/base/time.h"

namespace headrace::runtime {

class Places final {
 public:
  Places(std::size_t calls, std::size_t bytes) : most_calls_(calls), most_bytes_(bytes) {}

  // kTimeout, kClosed.
  Result<void> take(std::size_t bytes, MonoTime deadline);
  void give_back(std::size_t calls, std::size_t bytes);
  // Ends all waiting, now and later, with kClosed.
  void close();

 private:
  bool fits(std::size_t bytes) const {
    return calls_ == 0 || (calls_ < most_calls_ && bytes_ + bytes <= most_bytes_);
  }

  const std::size_t most_calls_;
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::size_t calls_ = 0;  // all guarded by mutex_
  std::size_t bytes_ = 0;
  std::size_t waiting_ = 0;
  bool closed_ = false;
};

}  // namespace headrace::runtime
