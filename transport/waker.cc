#include "transport/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "core/base/check.h"

namespace headrace::transport {

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { HEADRACE_CHECK(fd_ >= 0); }

Waker::~Waker() { ::close(fd_); }

// An exchange, not a load first: only a read-modify-write is ordered with the owner's, so that what
// the caller did before is either seen by the clear() under way or announced by a new write.
void Waker::wake() {
  if (woken_.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  // Fails only if the counter would overflow, and then the descriptor is readable anyway.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof(one));
}

// The descriptor first: a wake between the two lines finds the flag still up, writes nothing, and
// needs nothing, since the owner is about to look.
bool Waker::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_, &count, sizeof(count));
  return woken_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace headrace::transport
