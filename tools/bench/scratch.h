// A new folder for one measurement, removed with all that is in it.
//
// Owned by whoever measures; make it before the roles are forked, so that it is removed once.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace headrace::bench {

class Scratch final {
 public:
  // Below `parent`. kStore names the folder and the cause.
  static Result<std::unique_ptr<Scratch>> make(const std::filesystem::path& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit Scratch(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// kInvalid if there is no such folder.
Result<void> check_directory(const std::filesystem::path& directory);

}  // namespace headrace::bench
