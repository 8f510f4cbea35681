#include "core/flow/marks.h"

#include <algorithm>

#include "core/base/limits.h"

namespace headrace {

unsigned default_low(unsigned high, unsigned parallel) {
  return std::max(std::min(parallel, high - 1), high / 2);
}

Result<Marks> make_marks(unsigned high, std::optional<unsigned> low, unsigned parallel) {
  if (parallel < 1 || parallel > limits::kParallel)
    return fail(Code::kInvalid, "parallel is " + std::to_string(parallel) + ", allowed is 1 to " +
                                    std::to_string(limits::kParallel));
  if (high < 1 || high > limits::kHighWaterMark)
    return fail(Code::kInvalid, "hwm is " + std::to_string(high) + ", allowed is 1 to " +
                                    std::to_string(limits::kHighWaterMark));
  const Marks marks{high, low.value_or(default_low(high, parallel))};
  const auto least = std::min(parallel, high - 1);
  if (marks.low < least || marks.low >= high)
    return fail(Code::kInvalid, "lwm is " + std::to_string(marks.low) + ", allowed is " +
                                    std::to_string(least) + " to " + std::to_string(high - 1) +
                                    " with hwm " + std::to_string(high) + " and parallel " +
                                    std::to_string(parallel));
  return marks;
}

}  // namespace headrace
