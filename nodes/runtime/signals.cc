#include "nodes/runtime/signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace headrace::runtime {

namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

// A handler can be told nothing, so what it needs is the process's.
std::mutex mutex;
unsigned watches = 0;         // guarded by mutex
std::array<bool, 2> taken{};  // guarded by mutex: ours for now
std::atomic<int> descriptor{-1};

void on_signal(int) {
  const int error = errno;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(descriptor.load(), &one, sizeof one));
  errno = error;
}

void take_signals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    ::sigaction(kSignals[i], nullptr, &now);
    taken[i] = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (!taken[i]) continue;
    struct sigaction ours {};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_RESTART;
    sigemptyset(&ours.sa_mask);
    ::sigaction(kSignals[i], &ours, nullptr);
  }
}

void give_back_signals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    ::sigaction(kSignals[i], nullptr, &now);
    // Somebody may have set another since.
    if (taken[i] && now.sa_handler == on_signal) ::signal(kSignals[i], SIG_DFL);
  }
}

}  // namespace

Result<SignalWatch> SignalWatch::start() {
  const std::lock_guard lock(mutex);
  if (watches == 0) {
    const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
      return fail(Code::kFull, std::string("cannot wait for signals: ") + std::strerror(errno));
    }
    descriptor = fd;
    take_signals();
  }
  ++watches;
  return SignalWatch();
}

SignalWatch::SignalWatch(SignalWatch&& other) noexcept
    : active_(std::exchange(other.active_, false)) {}

SignalWatch::~SignalWatch() {
  if (!active_) return;
  const std::lock_guard lock(mutex);
  if (--watches > 0) return;
  give_back_signals();
  ::close(descriptor.exchange(-1));
}

int SignalWatch::fd() const { return descriptor.load(); }

}  // namespace headrace::runtime
