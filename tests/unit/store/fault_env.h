// FaultEnv: files that fail when told to, and that lose at power_loss() what was never synced.
#pragma once

#include <leveldb/env.h>

#include <map>
#include <mutex>
#include <string>

#include "core/base/random.h"
#include "core/store/env.h"

namespace headrace::test {

class FaultEnv final : public leveldb::EnvWrapper {
 public:
  explicit FaultEnv(PreadEnv& below) : EnvWrapper(&below) {}

  // The next append, or sync, to a log fails; of the append half is written first, as on a full
  // disk.
  void fail_next_append() { set(fail_append_); }
  void fail_next_sync() { set(fail_sync_); }

  // With the store closed: of each file what was synced stays, and a random part of the rest.
  void power_loss(Random& random);

  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status RenameFile(const std::string& from, const std::string& to) override;

 private:
  friend class FaultFile;
  struct Sizes {
    std::uint64_t written = 0;
    std::uint64_t synced = 0;
  };

  void set(bool& fault) {
    const std::lock_guard lock(mutex_);
    fault = true;
  }
  bool take(bool& fault, const std::string& name);

  std::mutex mutex_;  // LevelDB's background thread writes files too
  std::map<std::string, Sizes> files_;
  bool fail_append_ = false;
  bool fail_sync_ = false;
};

}  // namespace headrace::test
