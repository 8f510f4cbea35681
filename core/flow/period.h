// The beat of all windows. Both ends count periods, they never look at a clock: a node that was
// held up counts late, and is never ahead.
#pragma once

#include "core/base/time.h"

namespace headrace {

inline constexpr Millis kWindowPeriod{100};
inline constexpr unsigned kPatience = 2;       // periods without news before somebody asks
inline constexpr unsigned kLanePatience = 10;  // periods with items under way and none passing

}  // namespace headrace
