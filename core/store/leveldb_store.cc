#include "core/store/leveldb_store.h"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/store/env.h"
#include "core/store/leveldb_snapshot.h"
#include "core/store/meta.h"

namespace headrace {

namespace {

// A batch with a large payload in it is no reason to keep that much memory for good.
constexpr std::size_t kStagingKept = 4 << 20;

leveldb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

void stage(const WriteBatch& batch, leveldb::WriteBatch& staging) {
  staging.Clear();
  batch.each([&](BytesView key, BytesView value) { staging.Put(slice(key), slice(value)); },
             [&](BytesView key) { staging.Delete(slice(key)); });
}

bool holds_data(const std::string& name) {
  return name.ends_with(".log") || name.ends_with(".ldb") || name.ends_with(".sst");
}

tl::unexpected<Error> cannot_open(const std::filesystem::path& directory, const std::string& why) {
  return fail(Code::kStore, "the store in " + directory.string() + " cannot be opened: " + why);
}

}  // namespace

LevelDbStore::LevelDbStore(std::filesystem::path directory, LevelDbOptions options,
                           DirectoryHold hold)
    : directory_(std::move(directory)),
      database_(directory_ / "db"),
      options_(std::move(options)),
      hold_(std::move(hold)),
      space_(directory_, options_.reserve, options_.ballast, options_.space),
      own_env_(options_.env == nullptr ? std::make_unique<PreadEnv>() : nullptr),
      env_(options_.env == nullptr ? own_env_.get() : options_.env),
      cache_(leveldb::NewLRUCache(options_.block_cache)),
      staging_(std::make_unique<leveldb::WriteBatch>()) {}

LevelDbStore::~LevelDbStore() { HEADRACE_CHECK(snapshots_ == 0); }

Result<std::unique_ptr<LevelDbStore>> LevelDbStore::open(const std::filesystem::path& directory,
                                                         LevelDbOptions options) {
  if (directory.empty()) {
    return fail(Code::kInvalid, "the path of the data directory is empty; name a directory");
  }
  std::error_code unknown;
  auto path = std::filesystem::absolute(directory, unknown).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // "data/"
  if (auto made = make_directory(path); !made) return fail(made.error());
  auto hold = DirectoryHold::take(path);
  if (!hold) return fail(hold.error());

  std::unique_ptr<LevelDbStore> store(
      new LevelDbStore(std::move(path), std::move(options), std::move(*hold)));
  if (auto opened = store->open_database(); !opened) return fail(opened.error());
  if (auto checked = store->check_format(); !checked) return fail(checked.error());
  return store;
}

Result<void> LevelDbStore::open_database() {
  if (auto made = make_directory(database_); !made) return made;
  std::vector<std::string> files;
  env_->GetChildren(database_.string(), &files);
  bool empty = true;
  for (const auto& file : files) empty = empty && !holds_data(file);
  if (!empty && !env_->FileExists((database_ / "CURRENT").string())) {
    // LevelDB would start a new store here and delete the files of the old one.
    return cannot_open(directory_,
                       "it is damaged: db/CURRENT is missing though data is there. "
                       "Nothing was deleted; restore the directory from a backup");
  }

  leveldb::Options options;
  options.env = env_;
  options.create_if_missing = empty;
  options.paranoid_checks = true;  // rather no store than one with a hole in it that nobody sees
  options.write_buffer_size = options_.write_buffer;
  options.block_cache = cache_.get();
  options.max_open_files = options_.open_files;
  options.compression = options_.compress ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  leveldb::DB* db = nullptr;
  const auto status = leveldb::DB::Open(options, database_.string(), &db);
  db_.reset(db);
  if (status.ok()) return {};
  if (status.IsIOError()) return cannot_open(directory_, status.ToString());
  return cannot_open(directory_, "it is damaged: " + status.ToString() +
                                     ". Nothing was deleted; restore the directory from a backup");
}

Result<void> LevelDbStore::check_format() {
  {
    const auto now = snapshot();
    if (!now) return fail(now.error());
    const auto version = meta::format_version(**now);
    if (!version) return cannot_open(directory_, version.error().message);
    if (version->value_or(0) > meta::kFormatVersion) {
      return cannot_open(directory_, "its format " + std::to_string(**version) + " is newer than " +
                                         std::to_string(meta::kFormatVersion) +
                                         ", the newest this program knows; use a newer Headrace");
    }
    if (!*version) {
      const auto first = (*now)->cursor();
      first->seek({});
      if (first->valid() || !first->status()) {
        return cannot_open(directory_, "its db holds data, but not ours; name another directory");
      }
    }
  }
  WriteBatch batch;
  meta::set_format_version(batch, meta::kFormatVersion);
  return write(batch, true);
}

Result<void> LevelDbStore::write(const WriteBatch& batch, bool sync) {
  if (auto ok = alive(); !ok) return ok;
  stage(batch, *staging_);
  leveldb::WriteOptions how;
  how.sync = sync;
  const auto status = db_->Write(how, staging_.get());
  if (staging_->ApproximateSize() > kStagingKept) {
    staging_ = std::make_unique<leveldb::WriteBatch>();
  }
  if (!status.ok()) return die(status);
  // An unknown amount of free space is no reason to stop: the write itself was fine.
  static_cast<void>(space_.look());
  return {};
}

Result<std::unique_ptr<Snapshot>> LevelDbStore::snapshot() {
  if (auto ok = alive(); !ok) return fail(ok.error());
  return std::make_unique<LevelDbSnapshot>(*db_, snapshots_);
}

Result<StoreStats> LevelDbStore::stats() {
  if (auto ok = alive(); !ok) return fail(ok.error());
  const auto space = space_.look();
  if (!space) return fail(space.error());
  StoreStats stats;
  stats.free_bytes = space->free;
  stats.room = space_.room();
  std::vector<std::string> files;
  env_->GetChildren(database_.string(), &files);
  for (const auto& file : files) {
    std::uint64_t size = 0;
    if (env_->GetFileSize((database_ / file).string(), &size).ok()) stats.bytes += size;
  }
  return stats;
}

Result<void> LevelDbStore::alive() const {
  const std::lock_guard lock(mutex_);
  if (dead_) return fail(*dead_);
  return {};
}

tl::unexpected<Error> LevelDbStore::die(const leveldb::Status& status) {
  const std::lock_guard lock(mutex_);
  dead_ = Error{Code::kStore, "the store in " + directory_.string() +
                                  " could not be written: " + status.ToString() +
                                  "; nothing more is written until it is opened again"};
  return fail(*dead_);
}

}  // namespace headrace
