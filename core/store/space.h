// SpaceGuard: says "full" long before the disk does, and keeps a ballast for getting out of it.
//
// Below `reserve` of free space there is no room for new work; a quarter more than that must be
// free before there is room again. The ballast is a preallocated file. It is given up when free
// space falls below half the reserve, or below the reserve at open, so that a store on a full disk
// can still open, acknowledge and delete; its space never counts as room, and it is laid down again
// as soon as there is room. On a small file system the reserve is a tenth of it. look() may block
// on the disk; any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>

#include "core/base/error.h"

namespace headrace {

struct DiskSpace {
  std::uint64_t total = 0;
  std::uint64_t free = 0;  // for us: without what is kept for the superuser
};
using SpaceProbe = std::function<Result<DiskSpace>(const std::filesystem::path&)>;

Result<DiskSpace> disk_space(const std::filesystem::path& path);  // the SpaceProbe of real disks

class SpaceGuard final {
 public:
  // Gives the ballast up where the store could not open otherwise. 0 bytes: no reserve, no ballast.
  SpaceGuard(std::filesystem::path directory, std::uint64_t reserve, std::uint64_t ballast,
             SpaceProbe probe);

  Result<DiskSpace> look();  // kStore if the file system does not answer; room() stays as it was
  bool room() const { return room_.load(std::memory_order_relaxed); }

 private:
  void lay_ballast();
  void drop_ballast();

  const std::filesystem::path directory_;
  const std::filesystem::path ballast_file_;
  const std::uint64_t reserve_;
  const SpaceProbe probe_;
  std::mutex mutex_;
  std::uint64_t ballast_;      // guarded by mutex_; 0 where the file system cannot preallocate
  bool ballast_laid_ = false;  // guarded by mutex_
  std::atomic<bool> room_{true};
};

}  // namespace headrace
