// HEADRACE_CHECK(condition): for what must never be. Always on; ends the process with file and line.
// It guards against our own faults, never against input: bad input gets an Error.
#pragma once

namespace headrace {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace headrace

#define HEADRACE_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::headrace::check_failed(#condition, __FILE__, __LINE__))
