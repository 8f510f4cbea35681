// LevelDbStore: a Store in a directory. Adds to store.h:
//
// - open() takes the directory for this process (holder file), checks the format, and ends with a
// synced
//   write, since what it found may never have been synced.
// - A log that ends in the middle of a batch is what a crash leaves: the batch is dropped. Any
// other damage is
//   an error that says so; nothing is deleted or rewritten to make a damaged store open.
// - Memory: two write buffers, the block cache, and about 20 KB for each open table.
// Owner, threads, blocking and failure as in store.h; snapshots that outlive the Store are a fault
// of ours.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "core/store/directory.h"
#include "core/store/space.h"
#include "core/store/store.h"

namespace leveldb {
class Cache;
class DB;
class Env;
class Status;
class WriteBatch;
}  // namespace leveldb

namespace headrace {

struct LevelDbOptions {
  std::size_t write_buffer =
      8 << 20;  // two of them at most; also the longest log read back at open
  std::size_t block_cache = 8 << 20;
  int open_files = 500;  // at least 74
  bool compress = false;
  std::uint64_t reserve = 64 << 20;  // free space below which new work is refused
  std::uint64_t ballast = 24 << 20;  // at least three write buffers
  SpaceProbe space = disk_space;
  leveldb::Env* env = nullptr;  // for tests; must outlive the store. nullptr: a PreadEnv of its own
};

class LevelDbStore final : public Store {
 public:
  // kInUse: held by another process, which is named. kInvalid: no directory that we may write.
  // kStore: damaged, of a newer format, or the disk failed.
  static Result<std::unique_ptr<LevelDbStore>> open(const std::filesystem::path& directory,
                                                    LevelDbOptions options = {});
  ~LevelDbStore() override;

  Result<void> write(const WriteBatch& batch, bool sync) override;
  Result<std::unique_ptr<Snapshot>> snapshot() override;
  Result<StoreStats> stats() override;
  bool room() const override { return space_.room(); }

 private:
  LevelDbStore(std::filesystem::path directory, LevelDbOptions options, DirectoryHold hold);

  Result<void> open_database();
  Result<void> check_format();
  Result<void> alive() const;
  tl::unexpected<Error> die(const leveldb::Status& status);

  const std::filesystem::path directory_;
  const std::filesystem::path database_;  // LevelDB's own folder in it
  const LevelDbOptions options_;
  const DirectoryHold hold_;
  SpaceGuard space_;
  std::unique_ptr<leveldb::Env> own_env_;
  leveldb::Env* env_ = nullptr;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<leveldb::DB> db_;               // ends before cache and env
  std::unique_ptr<leveldb::WriteBatch> staging_;  // of write(), kept for its memory
  std::atomic<std::size_t> snapshots_{0};
  mutable std::mutex mutex_;
  std::optional<Error> dead_;  // guarded by mutex_
};

}  // namespace headrace
