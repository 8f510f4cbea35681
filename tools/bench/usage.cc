#include "tools/bench/usage.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

#include "core/base/check.h"

namespace headrace::bench {
namespace {

std::chrono::microseconds to_duration(const timeval& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

Result<Memory> memory_of(pid_t process) {
  constexpr double kMbOfKiB = 1024.0 / 1e6;
  const std::string path = "/proc/" + std::to_string(process) + "/status";
  Memory memory;
  std::ifstream status(path);
  for (std::string name; status >> name;) {
    double kib = 0;
    if (name == "VmRSS:" && status >> kib) memory.rss_mb = kib * kMbOfKiB;
    if (name == "VmHWM:" && status >> kib) memory.peak_mb = kib * kMbOfKiB;
  }
  if (memory.rss_mb <= 0) return fail(Code::kInternal, path + ": no memory figures there");
  return memory;
}

std::chrono::microseconds cpu_time() {
  rusage spent{};
  HEADRACE_CHECK(getrusage(RUSAGE_SELF, &spent) == 0);
  return to_duration(spent.ru_utime) + to_duration(spent.ru_stime);
}

}  // namespace headrace::bench
