// What a message of jobs says, in one line, for whoever reads a trace.
#pragma once

#include <string>

#include "core/base/bytes.h"

namespace headrace::sim {

// Empty for what is not about jobs.
std::string describe(BytesView message);

}  // namespace headrace::sim
