// The two clocks of a node, read: everything below takes the time as an argument.
#pragma once

#include <chrono>

#include "core/base/time.h"
#include "core/job/host.h"

namespace headrace::runtime {

inline MonoTime mono_now() { return MonoTime{std::chrono::steady_clock::now().time_since_epoch()}; }
inline WallTime wall_now() {
  return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}
inline job::Now now() { return {mono_now(), wall_now()}; }

// For waits of the standard library, which take its own clock.
inline std::chrono::steady_clock::time_point steady(MonoTime time) {
  return std::chrono::steady_clock::time_point{time.time_since_epoch()};
}

// A time-out may be as long as Millis can say: then it never comes.
inline MonoTime deadline_after(MonoTime start, Millis timeout) {
  constexpr Millis kLongest = std::chrono::hours(24 * 365 * 10);
  if (timeout >= kLongest) return kNever;
  return start + (timeout > Millis{0} ? timeout : Millis{0});
}

}  // namespace headrace::runtime
