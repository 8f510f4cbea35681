// The processes of one measurement: each role (publisher, subscriber, owner, worker) runs in a
// process of its own, and they share a page for what they count.
//
// A Crew belongs to the thread that measures. start() forks, so make it before the process has any
// thread, socket or node of its own; a role makes its own. A role that returns an error, throws, or
// is killed fails the crew, which then ends the others. ~Crew ends and reaps whatever still runs,
// and no role outlives its parent.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"

namespace headrace::bench {

// Called about 20 times a second while a measurement runs: what it does, and how much of it is done
// (0 to 1).
using Progress = std::function<void(std::string_view what, double done)>;

// Nanoseconds of the machine's monotonic clock: the same in all processes.
std::int64_t now_ns();

namespace detail {
void* map_shared(std::size_t bytes);
void unmap_shared(void* page, std::size_t bytes);
}  // namespace detail

// One T, zeroed, seen by this process and all that it forks later. T's constructor is run; its
// destructor is not.
template <typename T>
class Shared final {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  Shared() : value_(new(detail::map_shared(sizeof(T))) T{}) {}
  ~Shared() { detail::unmap_shared(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

// `size` of T, zeroed, shared like Shared. Memory is taken as elements are first written.
template <typename T>
class SharedArray final {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  explicit SharedArray(std::size_t size)
      : size_(size), values_(static_cast<T*>(detail::map_shared(bytes()))) {}
  ~SharedArray() { detail::unmap_shared(values_, bytes()); }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) const { return values_[index]; }
  T* begin() const { return values_; }

 private:
  std::size_t bytes() const { return std::max<std::size_t>(size_, 1) * sizeof(T); }

  std::size_t size_;
  T* values_;
};

// What a receiver counts. One writer; its own cache line.
struct alignas(64) Tally {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::int64_t> first_ns{0}, last_ns{0};

  void hit() {  // one more arrived, now
    std::uint64_t before = count.load(std::memory_order_relaxed);
    if (before == 0) first_ns.store(now_ns(), std::memory_order_relaxed);
    count.store(before + 1, std::memory_order_release);
  }
  void end() { last_ns.store(now_ns(), std::memory_order_release); }  // the last one arrived, now
};

// Deliveries per second over all tallies, from the earliest first to the latest last. The first of
// each starts the clock and is not counted. 0 if nothing can be said.
double rate_of(const Tally* tallies, std::size_t size);

// Polls each millisecond until `reached()`. kTimeout names `what`.
Result<void> await_that(const std::function<bool()>& reached, Millis timeout,
                        std::string_view what);
// Polls until `value` has reached `wanted`. kTimeout names `what`.
Result<void> await(const std::atomic<std::uint32_t>& value, std::uint32_t wanted, Millis timeout,
                   std::string_view what);

// The CPU for the role with this number, if there are at least two CPUs: publisher 0, receivers
// from 1 on, in turn.
std::optional<unsigned> cpu_for(unsigned role);

class Crew final {
 public:
  using Role = std::function<Result<void>()>;

  Crew() = default;
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Runs `role` in a new process, all its threads on `cpu` if one is given.
  Result<void> start(std::string name, std::optional<unsigned> cpu, Role role);

  // Waits until every role has returned, calling `tick` about 20 times a second. The first failure
  // ends the rest and is returned with the role's name; so is kTimeout.
  Result<void> wait(Millis timeout, const std::function<void()>& tick = {});

  // The process of a role, or -1 if none of that name runs.
  pid_t pid(std::string_view name) const;

 private:
  struct Failure {
    char text[1024];
  };
  struct Member {
    std::string name;
    pid_t pid = -1;  // -1 once reaped
    std::unique_ptr<Shared<Failure>> failure;
  };

  [[noreturn]] static void run(const Role& role, std::optional<unsigned> cpu, pid_t parent,
                               Failure& failure);
  static Result<bool> reap(Member& member);
  void end_all();

  std::vector<Member> members_;
};

}  // namespace headrace::bench
