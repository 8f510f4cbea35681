#include "core/store/env.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace headrace {

namespace {

leveldb::Status io_error(const std::string& name, int error) {
  if (error == ENOENT) return leveldb::Status::NotFound(name, std::strerror(error));
  return leveldb::Status::IOError(name, std::strerror(error));
}

class PreadFile final : public leveldb::RandomAccessFile {
 public:
  PreadFile(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
  ~PreadFile() override { ::close(fd_); }

  leveldb::Status Read(std::uint64_t offset, std::size_t size, leveldb::Slice* result,
                       char* scratch) const override {
    std::size_t done = 0;
    while (done < size) {
      const auto got = ::pread(fd_, scratch + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return io_error(name_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    *result = {scratch, done};
    return leveldb::Status::OK();
  }

 private:
  std::string name_;
  int fd_;
};

}  // namespace

leveldb::Status PreadEnv::NewRandomAccessFile(const std::string& name,
                                              leveldb::RandomAccessFile** file) {
  *file = nullptr;
  const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return io_error(name, errno);
  *file = new PreadFile(name, fd);
  return leveldb::Status::OK();
}

}  // namespace headrace
