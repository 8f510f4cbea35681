#include "core/store/leveldb_snapshot.h"

#include <leveldb/iterator.h>

#include <utility>

namespace headrace {

namespace {

leveldb::Slice slice(BytesView bytes) { return {bytes.data(), bytes.size()}; }
BytesView view(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

tl::unexpected<Error> unreadable(const leveldb::Status& status) {
  return fail(Code::kStore, "the store could not be read: " + status.ToString());
}

class LevelDbCursor final : public Cursor {
 public:
  explicit LevelDbCursor(std::unique_ptr<leveldb::Iterator> at) : at_(std::move(at)) {}

  void seek(BytesView key) override { at_->Seek(slice(key)); }
  bool valid() const override { return at_->Valid(); }
  void next() override { at_->Next(); }
  BytesView key() const override { return view(at_->key()); }
  BytesView value() const override { return view(at_->value()); }
  Result<void> status() const override {
    if (const auto status = at_->status(); !status.ok()) return unreadable(status);
    return {};
  }

 private:
  std::unique_ptr<leveldb::Iterator> at_;
};

}  // namespace

LevelDbSnapshot::LevelDbSnapshot(leveldb::DB& db, std::atomic<std::size_t>& open)
    : db_(db), open_(open) {
  ++open_;
  how_.verify_checksums = true;
  how_.snapshot = db_.GetSnapshot();
}

LevelDbSnapshot::~LevelDbSnapshot() {
  db_.ReleaseSnapshot(how_.snapshot);
  --open_;
}

Result<std::optional<Bytes>> LevelDbSnapshot::get(BytesView key) const {
  Bytes value;
  const auto status = db_.Get(how_, slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return unreadable(status);
  return value;
}

std::unique_ptr<Cursor> LevelDbSnapshot::cursor() const {
  return std::make_unique<LevelDbCursor>(std::unique_ptr<leveldb::Iterator>(db_.NewIterator(how_)));
}

}  // namespace headrace
