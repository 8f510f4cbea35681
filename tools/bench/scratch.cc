#include "tools/bench/scratch.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

namespace headrace::bench {

Result<std::unique_ptr<Scratch>> Scratch::make(const std::filesystem::path& parent) {
  std::string path = (parent / "headrace-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return fail(Code::kStore,
                "cannot make a folder in " + parent.string() + ": " + std::strerror(errno));
  }
  return std::unique_ptr<Scratch>(new Scratch(path));
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<void> check_directory(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (std::filesystem::is_directory(directory, ignored)) return {};
  return fail(Code::kInvalid, "directory " + directory.string() + ": not a directory");
}

}  // namespace headrace::bench
