// What a process has used of the machine, as the kernel counts it. MB are 10^6 bytes.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "core/base/error.h"

namespace headrace::bench {

struct Memory {
  double rss_mb = 0;   // resident now
  double peak_mb = 0;  // the most that was ever resident
};

// kInternal if there is no such process.
Result<Memory> memory_of(pid_t process);
// Of all threads of the process that calls, in user and kernel.
std::chrono::microseconds cpu_time();

}  // namespace headrace::bench
