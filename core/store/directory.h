// The data directory: made where it is missing, and held by one process at a time.
//
// DirectoryHold keeps an flock on the file `holder` in it, which names the process. The kernel
// drops the lock when the process ends, however it ends; the file stays and means nothing by
// itself. A child made by fork shares the lock until it ends or execs. May block on the disk; any
// thread.
#pragma once

#include <filesystem>

#include "core/base/error.h"

namespace headrace {

// With its parents, for the owner only, and durably. Fine if it is there already.
// kInvalid, naming the path and what to do, if it cannot be made or is something else.
Result<void> make_directory(const std::filesystem::path& directory);

class DirectoryHold final {
 public:
  // kInUse naming the holder's process, kInvalid if the directory cannot be written.
  static Result<DirectoryHold> take(const std::filesystem::path& directory);

  DirectoryHold(DirectoryHold&& other) noexcept;
  DirectoryHold& operator=(DirectoryHold&&) = delete;
  ~DirectoryHold();

 private:
  explicit DirectoryHold(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace headrace
