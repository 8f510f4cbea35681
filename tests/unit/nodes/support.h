// What the tests of a node's parts share.
#pragma once

#include <stdlib.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

namespace headrace::test {

inline constexpr std::chrono::seconds kPatience{20};

// True as soon as `condition` holds, false after kPatience.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A value that one thread sets and another waits for.
template <typename T>
class Slot {
 public:
  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change(value_);
    changed_.notify_all();
  }
  template <typename Holds>
  bool wait(Holds holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return holds(value_); });
  }
  T get() {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  T value_{};
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "headrace_node_XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace headrace::test
