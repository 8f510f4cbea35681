// Two clocks that never mix. MonoTime drives leases, probes and windows; WallTime is shown and stored, and is
// never compared between nodes. Core never asks either: the time is handed in.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace headrace {

using Millis = std::chrono::milliseconds;
using Micros = std::chrono::microseconds;
using Nanos = std::chrono::nanoseconds;

// Tag of the monotonic clock; deliberately without now().
struct MonoClock {
  using duration = Nanos;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};
using MonoTime = MonoClock::time_point;
inline constexpr MonoTime kNever = MonoTime::max();

// Microseconds since the Unix epoch, UTC.
using WallTime = std::chrono::sys_time<Micros>;

// RFC 3339, UTC, microseconds: 2026-11-30T12:00:00.000000Z
std::string format_rfc3339(WallTime time);
// Takes what format_rfc3339 writes, 0 to 9 digits of a second, 'Z' or an offset. kInvalid otherwise.
Result<WallTime> parse_rfc3339(std::string_view text);

}  // namespace headrace
