// Lets a host end the waits of one of its threads early. Python's main thread needs it: it alone
// sees to signals, and must do so while it waits for a node.
//
// A thread that has set a check runs it every kInterruptLook while it waits, with no lock held;
// once it says true the wait is over as if its time had come, and the host has its own way to know
// why. Threads without one wait in one piece.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

#include "core/base/time.h"
#include "nodes/runtime/clock.h"

namespace headrace::runtime {

using InterruptCheck = bool (*)();

inline constexpr Millis kInterruptLook{50};
inline thread_local InterruptCheck interrupt_check = nullptr;  // of this thread

inline bool interrupted() { return interrupt_check != nullptr && interrupt_check(); }

// What ready() says at the end. kNever: for ever.
template <typename Ready>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                MonoTime deadline, Ready ready) {
  if (interrupt_check == nullptr && deadline == kNever) {
    changed.wait(lock, ready);
    return true;
  }
  if (interrupt_check == nullptr) return changed.wait_until(lock, steady(deadline), ready);
  while (!ready()) {
    const auto now = mono_now();
    if (now >= deadline) return false;
    if (changed.wait_until(lock, steady(std::min(deadline, now + kInterruptLook)), ready)) break;
    lock.unlock();
    const bool over = interrupted();
    lock.lock();
    if (over) return ready();
  }
  return true;
}

// False: interrupted.
template <typename T>
bool wait_for(const std::future<T>& future) {
  if (interrupt_check == nullptr) {
    future.wait();
    return true;
  }
  while (future.wait_for(kInterruptLook) != std::future_status::ready) {
    if (interrupted()) return false;
  }
  return true;
}

}  // namespace headrace::runtime
