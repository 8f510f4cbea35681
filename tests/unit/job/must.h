// For helpers that are called inside an assertion, where Catch2 allows no second one.
#pragma once

#include <stdexcept>

namespace headrace::job {

inline void must(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace headrace::job
