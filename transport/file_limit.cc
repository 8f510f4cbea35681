#include "transport/file_limit.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace headrace::transport {

namespace {

rlim_t soft_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace

std::size_t raise_file_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

Result<void> check_descriptors(std::size_t count) {
  std::vector<int> tried;
  while (tried.size() < count) {
    const int fd = ::eventfd(0, EFD_CLOEXEC);
    if (fd < 0) break;
    tried.push_back(fd);
  }
  const bool enough = tried.size() == count;
  for (const int fd : tried) ::close(fd);
  if (enough) return {};
  return fail(Code::kFull, "a node needs some " + std::to_string(count) +
                               " descriptors to start and three for each peer; this process may "
                               "have " +
                               std::to_string(soft_limit()) +
                               ": raise the limit of open files (ulimit -n)");
}

// The kernel gives the lowest that is free.
bool descriptors_run_out(std::size_t reserve) {
  const int lowest = ::eventfd(0, EFD_CLOEXEC);
  if (lowest < 0) return true;
  ::close(lowest);
  return static_cast<rlim_t>(lowest) + reserve >= soft_limit();
}

}  // namespace headrace::transport
