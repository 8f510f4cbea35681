#include "tests/unit/store/fault_env.h"

#include <filesystem>
#include <memory>
#include <utility>

namespace headrace::test {

class FaultFile final : public leveldb::WritableFile {
 public:
  FaultFile(FaultEnv& env, std::string name, leveldb::WritableFile* below)
      : env_(env), name_(std::move(name)), below_(below) {}

  leveldb::Status Append(const leveldb::Slice& data) override {
    const std::lock_guard lock(env_.mutex_);
    const bool fails = env_.take(env_.fail_append_, name_);
    const leveldb::Slice part(data.data(), fails ? data.size() / 2 : data.size());
    env_.files_[name_].written += part.size();
    if (auto status = below_->Append(part); !status.ok()) return status;
    if (!fails) return leveldb::Status::OK();
    below_->Flush();
    return leveldb::Status::IOError(name_, "No space left on device");
  }
  leveldb::Status Close() override { return below_->Close(); }
  leveldb::Status Flush() override { return below_->Flush(); }
  leveldb::Status Sync() override {
    const std::lock_guard lock(env_.mutex_);
    if (env_.take(env_.fail_sync_, name_)) {
      return leveldb::Status::IOError(name_, "Input/output error");
    }
    auto& sizes = env_.files_[name_];
    sizes.synced = sizes.written;
    return below_->Sync();
  }

 private:
  FaultEnv& env_;
  const std::string name_;
  const std::unique_ptr<leveldb::WritableFile> below_;
};

void FaultEnv::power_loss(Random& random) {
  for (auto& [name, sizes] : files_) {
    sizes.synced += random.below(sizes.written - sizes.synced + 1);
    sizes.written = sizes.synced;
    std::filesystem::resize_file(name, sizes.synced);
  }
}

leveldb::Status FaultEnv::NewWritableFile(const std::string& name, leveldb::WritableFile** file) {
  leveldb::WritableFile* below = nullptr;
  *file = nullptr;
  if (auto status = target()->NewWritableFile(name, &below); !status.ok()) return status;
  const std::lock_guard lock(mutex_);
  files_[name] = {};
  *file = new FaultFile(*this, name, below);
  return leveldb::Status::OK();
}

leveldb::Status FaultEnv::RemoveFile(const std::string& name) {
  const std::lock_guard lock(mutex_);
  files_.erase(name);
  return target()->RemoveFile(name);
}

leveldb::Status FaultEnv::RenameFile(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (const auto file = files_.extract(from)) files_[to] = file.mapped();
  return target()->RenameFile(from, to);
}

bool FaultEnv::take(bool& fault, const std::string& name) {
  return name.ends_with(".log") && std::exchange(fault, false);
}

}  // namespace headrace::test
