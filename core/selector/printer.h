// The canonical text of a program.
#pragma once

#include <string>

#include "core/selector/program.h"

namespace headrace::selector {

std::string print(const Program& program);

}  // namespace headrace::selector
