#include "core/store/space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace headrace {

Result<DiskSpace> disk_space(const std::filesystem::path& path) {
  struct statvfs about {};
  if (::statvfs(path.c_str(), &about) != 0) {
    return fail(Code::kStore,
                "cannot ask for the free space at " + path.string() + ": " + std::strerror(errno));
  }
  return DiskSpace{about.f_blocks * about.f_frsize, about.f_bavail * about.f_frsize};
}

SpaceGuard::SpaceGuard(std::filesystem::path directory, std::uint64_t reserve,
                       std::uint64_t ballast, SpaceProbe probe)
    : directory_(std::move(directory)),
      ballast_file_(directory_ / "ballast"),
      reserve_(reserve),
      probe_(std::move(probe)),
      ballast_(ballast) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(ballast_file_, missing);
  ballast_laid_ = !missing && ballast_ > 0 && size >= ballast_;
  if (!ballast_laid_) drop_ballast();  // of another size, or half laid
  const auto space = probe_(directory_);
  if (space && space->free < std::min(reserve_, space->total / 10)) drop_ballast();
}

Result<DiskSpace> SpaceGuard::look() {
  const auto space = probe_(directory_);
  if (!space) return space;
  const std::lock_guard lock(mutex_);
  const auto reserve = std::min(reserve_, space->total / 10);
  if (ballast_laid_ && space->free < reserve / 2) {
    drop_ballast();
    room_ = false;
    return probe_(directory_);
  }
  const auto owed = ballast_laid_ ? 0 : ballast_;
  const auto free = space->free - std::min(space->free, owed);
  room_ = free >= reserve + (room_ ? 0 : reserve / 4);
  if (room_ && owed > 0) lay_ballast();
  return space;
}

void SpaceGuard::lay_ballast() {
  const int fd = ::open(ballast_file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return;
  const bool laid = ::fallocate(fd, 0, 0, static_cast<off_t>(ballast_)) == 0;
  const int error = errno;
  ::close(fd);
  if (laid) {
    ballast_laid_ = true;
    return;
  }
  ::unlink(ballast_file_.c_str());
  if (error == EOPNOTSUPP) ballast_ = 0;
}

void SpaceGuard::drop_ballast() {
  ::unlink(ballast_file_.c_str());
  ballast_laid_ = false;
}

}  // namespace headrace
