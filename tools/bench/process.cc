#include "tools/bench/process.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <thread>

#include "core/base/check.h"

namespace headrace::bench {
namespace {

constexpr Millis kTick{50};
constexpr Millis kPoll{1};

void copy_text(const std::string& text, char* to, std::size_t size) {
  std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

namespace detail {

void* map_shared(std::size_t bytes) {
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  return page;
}

void unmap_shared(void* page, std::size_t bytes) { munmap(page, bytes); }

}  // namespace detail

double rate_of(const Tally* tallies, std::size_t size) {
  std::int64_t first = 0, last = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (tallies[i].count == 0) continue;
    std::int64_t began = tallies[i].first_ns;
    first = count == 0 ? began : std::min(first, began);
    last = std::max<std::int64_t>(last, tallies[i].last_ns);
    count += tallies[i].count - 1;
  }
  return count > 0 && last > first
             ? static_cast<double>(count) * 1e9 / static_cast<double>(last - first)
             : 0;
}

Result<void> await_that(const std::function<bool()>& reached, Millis timeout,
                        std::string_view what) {
  std::int64_t deadline = now_ns() + Nanos(timeout).count();
  while (!reached()) {
    if (now_ns() > deadline) {
      return fail(Code::kTimeout,
                  "waited " + std::to_string(timeout.count()) + " ms for " + std::string(what));
    }
    std::this_thread::sleep_for(kPoll);
  }
  return {};
}

Result<void> await(const std::atomic<std::uint32_t>& value, std::uint32_t wanted, Millis timeout,
                   std::string_view what) {
  return await_that([&] { return value.load(std::memory_order_acquire) >= wanted; }, timeout, what);
}

std::optional<unsigned> cpu_for(unsigned role) {
  unsigned cpus = std::thread::hardware_concurrency();
  if (cpus < 2) return std::nullopt;
  return role % cpus;
}

Crew::~Crew() { end_all(); }

Result<void> Crew::start(std::string name, std::optional<unsigned> cpu, Role role) {
  auto failure = std::make_unique<Shared<Failure>>();
  pid_t parent = getpid();
  pid_t child = fork();
  if (child < 0)
    return fail(Code::kInternal,
                "cannot start the process of " + name + ": " + std::strerror(errno));
  if (child == 0) run(role, cpu, parent, **failure);
  members_.push_back({std::move(name), child, std::move(failure)});
  return {};
}

void Crew::run(const Role& role, std::optional<unsigned> cpu, pid_t parent, Failure& failure) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before we asked to be told
  if (cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(*cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
  }
  std::string why;
  try {
    if (Result<void> result = role(); !result) why = result.error().message;
  } catch (const std::exception& error) {
    why = error.what();
  }
  copy_text(why, failure.text, sizeof failure.text);
  _exit(why.empty() ? 0 : 1);
}

// True once the process has ended well; an error if it ended otherwise.
Result<bool> Crew::reap(Member& member) {
  int status = 0;
  pid_t got = waitpid(member.pid, &status, WNOHANG);
  if (got == 0) return false;
  HEADRACE_CHECK(got == member.pid);
  member.pid = -1;
  if (WIFSIGNALED(status)) {
    return fail(Code::kInternal,
                member.name + " was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0)
    return fail(Code::kInternal, member.name + ": " + (*member.failure)->text);
  return true;
}

Result<void> Crew::wait(Millis timeout, const std::function<void()>& tick) {
  std::int64_t began = now_ns(), ticked = began;
  for (;;) {
    bool running = false;
    for (Member& member : members_) {
      if (member.pid < 0) continue;
      Result<bool> ended = reap(member);
      if (!ended) {
        end_all();
        return fail(ended.error());
      }
      running = running || !*ended;
    }
    if (!running) return {};
    std::int64_t now = now_ns();
    if (now - began > Nanos(timeout).count()) {
      end_all();
      return fail(Code::kTimeout, "not done within " + std::to_string(timeout.count()) + " ms");
    }
    if (tick && now - ticked > Nanos(kTick).count()) {
      ticked = now;
      tick();
    }
    std::this_thread::sleep_for(kPoll);
  }
}

pid_t Crew::pid(std::string_view name) const {
  for (const Member& member : members_) {
    if (member.name == name) return member.pid;
  }
  return -1;
}

void Crew::end_all() {
  for (Member& member : members_) {
    if (member.pid > 0) kill(member.pid, SIGKILL);
  }
  for (Member& member : members_) {
    if (member.pid > 0) waitpid(member.pid, nullptr, 0);
    member.pid = -1;
  }
}

}  // namespace headrace::bench
