#include "nodes/runtime/storage.h"

#include <utility>

namespace headrace::runtime {

Result<std::unique_ptr<Storage>> Storage::open(const std::filesystem::path& directory,
                                               LevelDbOptions options) {
  auto store = LevelDbStore::open(directory, std::move(options));
  if (!store) return fail(store.error());
  return std::unique_ptr<Storage>(new Storage(std::move(*store)));
}

Result<void> Storage::start(Reports reports) {
  commits_ = std::make_unique<CommitThread>(*store_, std::move(reports.committed));
  reads_ =
      std::make_unique<ReadThread>(*store_, std::move(reports.read), std::move(reports.failed));
  if (auto started = commits_->start(); !started) return started;
  return reads_->start();
}

}  // namespace headrace::runtime
