// What a program answers for an event.
#pragma once

#include "core/selector/program.h"
#include "core/selector/selector.h"

namespace headrace::selector {

Truth evaluate(const Program& program, const SelectorInput& input);

}  // namespace headrace::selector
