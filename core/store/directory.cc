#include "core/store/directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace headrace {

namespace {

constexpr const char* kWayOut = "; make it writable or name another data directory";

tl::unexpected<Error> refuse(const std::filesystem::path& path, const char* what, int error) {
  return fail(Code::kInvalid, "the data directory " + path.string() + " " + what + ": " +
                                  std::strerror(error) + kWayOut);
}

// The first `limit` bytes of a small file; empty if it cannot be read.
std::string read_start(const std::string& path, std::size_t limit) {
  std::string text(limit, '\0');
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto got = fd < 0 ? 0 : ::read(fd, text.data(), limit);
  if (fd >= 0) ::close(fd);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text.substr(0, text.find('\n'));
}

std::string describe_holder(const std::string& file) {
  const auto text = read_start(file, 32);
  int pid = 0;
  std::from_chars(text.data(), text.data() + text.size(), pid);
  if (pid <= 0) return "another process";
  const auto command = read_start("/proc/" + std::to_string(pid) + "/comm", 64);
  return "process " + std::to_string(pid) + (command.empty() ? "" : " (" + command + ")");
}

bool write_pid(int fd) {
  const auto text = std::to_string(::getpid()) + "\n";
  return ::ftruncate(fd, 0) == 0 &&
         ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

// A new directory is durable once the one that names it is synced.
void sync_directory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

Result<void> make_directory(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (std::filesystem::is_directory(directory, ignored)) return {};
  const auto parent = directory.parent_path();
  if (!parent.empty() && parent != directory) {
    if (auto made = make_directory(parent); !made) return made;
  }
  if (::mkdir(directory.c_str(), S_IRWXU) == 0) {
    sync_directory(parent.empty() ? "." : parent);
    return {};
  }
  const int error = errno;
  if (std::filesystem::is_directory(directory, ignored))
    return {};  // made by somebody else just now
  if (error == EEXIST) {
    return fail(Code::kInvalid,
                directory.string() + " is not a directory; name another data directory");
  }
  return refuse(directory, "cannot be created", error);
}

Result<DirectoryHold> DirectoryHold::take(const std::filesystem::path& directory) {
  const auto file = directory / "holder";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return refuse(directory, "cannot be written", errno);
  DirectoryHold hold(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return refuse(directory, "cannot be locked", errno);
    return fail(Code::kInUse, "the data directory " + directory.string() + " is in use by " +
                                  describe_holder(file) +
                                  "; end that one or name another data directory");
  }
  // A full disk must not keep a node from opening: then the holder goes without a name.
  if (!write_pid(fd) && errno != ENOSPC) return refuse(directory, "cannot be written", errno);
  return hold;
}

DirectoryHold::DirectoryHold(DirectoryHold&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

DirectoryHold::~DirectoryHold() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace headrace
