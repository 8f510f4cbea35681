// Storage: the store of a node from one opening to its end, with the two threads that work on it.
//
// Owned by the loop, which also makes and ends it. Opening and ending block on the disk. The
// reports come on the storage's threads; after the destructor none comes any more.
#pragma once

#include <filesystem>
#include <memory>

#include "core/store/leveldb_store.h"
#include "nodes/runtime/commit_thread.h"
#include "nodes/runtime/read_thread.h"

namespace headrace::runtime {

class Storage final {
 public:
  struct Reports {
    CommitThread::Report committed;
    ReadThread::Done read;
    ReadThread::Failed failed;  // nothing can be read
  };

  // As LevelDbStore::open.
  static Result<std::unique_ptr<Storage>> open(const std::filesystem::path& directory,
                                               LevelDbOptions options);

  // Once, when the reports can be taken.
  Result<void> start(Reports reports);

  Store& store() { return *store_; }
  CommitThread& commits() { return *commits_; }
  ReadThread& reads() { return *reads_; }

 private:
  explicit Storage(std::unique_ptr<LevelDbStore> store) : store_(std::move(store)) {}

  std::unique_ptr<LevelDbStore> store_;  // outlives its threads
  std::unique_ptr<CommitThread> commits_;
  std::unique_ptr<ReadThread> reads_;
};

}  // namespace headrace::runtime
