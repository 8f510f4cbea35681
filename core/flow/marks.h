// High- and low-water mark of a window: what a consumer holds unfinished at most, and how far it
// drains before it asks for more. Rule: min(parallel, high - 1) <= low < high.
#pragma once

#include <optional>

#include "core/base/error.h"

namespace headrace {

struct Marks {
  unsigned high = 1;
  unsigned low = 0;

  bool operator==(const Marks&) const = default;
};

// The low mark for a consumer that names none: it must cover the slots, and half the window keeps
// messages few. high >= 1, parallel >= 1.
unsigned default_low(unsigned high, unsigned parallel);

// Marks as asked for; without `low`, the default. kInvalid if a bound is broken.
Result<Marks> make_marks(unsigned high, std::optional<unsigned> low, unsigned parallel);

}  // namespace headrace
