// What the tests of stores share: a directory that goes away, and short forms of reading and
// writing.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "core/store/leveldb_store.h"

namespace headrace::test {

namespace fs = std::filesystem;

class TempDir {
 public:
  TempDir() {
    auto pattern = (fs::temp_directory_path() / "headrace-store-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempDir() { fs::remove_all(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using Rows = std::map<Bytes, Bytes>;

// Plenty of space, whatever the disk under the tests has.
inline LevelDbOptions roomy() {
  LevelDbOptions options;
  options.space = [](const fs::path&) { return DiskSpace{1ULL << 40, 1ULL << 39}; };
  options.ballast = 0;
  return options;
}

inline std::unique_ptr<LevelDbStore> open_store(const fs::path& path,
                                                LevelDbOptions options = roomy()) {
  auto store = LevelDbStore::open(path, std::move(options));
  if (!store) FAIL(store.error().message);
  return std::move(*store);
}

inline Result<void> put(Store& store, BytesView key, BytesView value, bool sync = true) {
  WriteBatch batch;
  batch.put(key, value);
  return store.write(batch, sync);
}

inline std::optional<Bytes> get(Store& store, BytesView key) {
  return store.snapshot().value()->get(key).value();
}

// Every row but the store's own facts; an error if the walk met one.
inline Result<Rows> try_rows(Store& store) {
  auto snapshot = store.snapshot();
  if (!snapshot) return fail(snapshot.error());
  const auto cursor = (*snapshot)->cursor();
  Rows rows;
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (!cursor->key().starts_with('m')) rows.emplace(cursor->key(), cursor->value());
  }
  if (auto status = cursor->status(); !status) return fail(status.error());
  return rows;
}
inline Rows rows(Store& store) { return try_rows(store).value(); }

inline std::set<std::string> files_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("LOG")) names.insert(name);  // LevelDB's diary, renamed at each open
  }
  return names;
}

inline Bytes read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const fs::path& file, BytesView bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}
inline void flip(const fs::path& file, std::size_t at) {
  auto bytes = read_file(file);
  REQUIRE(at < bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  write_file(file, bytes);
}

}  // namespace headrace::test
