// The reading side of LevelDbStore: one moment of a LevelDB database and the cursors on it. Checks
// the checksum of each block it reads from a table.
//
// Belongs to the thread that asked for it; must end before the database, which `open` counts for.
#pragma once

#include <leveldb/db.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/store/store.h"

namespace headrace {

class LevelDbSnapshot final : public Snapshot {
 public:
  LevelDbSnapshot(leveldb::DB& db, std::atomic<std::size_t>& open);
  ~LevelDbSnapshot() override;
  LevelDbSnapshot(const LevelDbSnapshot&) = delete;
  LevelDbSnapshot& operator=(const LevelDbSnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override;
  std::unique_ptr<Cursor> cursor() const override;

 private:
  leveldb::DB& db_;
  std::atomic<std::size_t>& open_;
  leveldb::ReadOptions how_;
};

}  // namespace headrace
