#include "core/store/memory_store.h"

#include <limits>

#include "core/base/check.h"

namespace headrace {

namespace {

tl::unexpected<Error> dead() {
  return fail(Code::kStore, "the store in memory was told to fail a write; open it again");
}

}  // namespace

// A row may leave the map only while no snapshot is open, so a cursor's place in it stays good.
class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const MemoryStore& store, MemoryStore::Moment moment)
      : rows_(store.rows_), moment_(moment), at_(rows_.end()) {}

  void seek(BytesView key) override {
    at_ = rows_.lower_bound(key);
    skip_absent();
  }
  bool valid() const override { return at_ != rows_.end(); }
  void next() override {
    ++at_;
    skip_absent();
  }
  BytesView key() const override { return at_->first; }
  BytesView value() const override { return *visible(at_->second, moment_); }
  Result<void> status() const override { return {}; }

  // The value that stood at `moment`; nullptr if there was none.
  static const Bytes* visible(const std::vector<MemoryStore::Version>& versions,
                              MemoryStore::Moment moment) {
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
      if (version->from <= moment) return version->value ? &*version->value : nullptr;
    }
    return nullptr;
  }

 private:
  void skip_absent() {
    while (at_ != rows_.end() && visible(at_->second, moment_) == nullptr) ++at_;
  }

  const MemoryStore::Rows& rows_;
  const MemoryStore::Moment moment_;
  MemoryStore::Rows::const_iterator at_;
};

class MemorySnapshot final : public Snapshot {
 public:
  explicit MemorySnapshot(MemoryStore& store) : store_(store), moment_(store.now_) {
    store_.open_.insert(moment_);
  }
  ~MemorySnapshot() override { store_.release(moment_); }
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;

  Result<std::optional<Bytes>> get(BytesView key) const override {
    const auto row = store_.rows_.find(key);
    if (row == store_.rows_.end()) return std::nullopt;
    const auto* value = MemoryCursor::visible(row->second, moment_);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }
  std::unique_ptr<Cursor> cursor() const override {
    return std::make_unique<MemoryCursor>(store_, moment_);
  }

 private:
  MemoryStore& store_;
  const MemoryStore::Moment moment_;
};

MemoryStore::~MemoryStore() { HEADRACE_CHECK(open_.empty()); }

Result<void> MemoryStore::write(const WriteBatch& batch, bool sync) {
  if (dead_) return dead();
  ++now_;
  Undo undo;
  undo.reserve(batch.count());
  batch.each([&](BytesView key, BytesView value) { apply(key, value, undo); },
             [&](BytesView key) { apply(key, std::nullopt, undo); });
  undo_.push_back(std::move(undo));
  if (std::exchange(fail_next_, false)) {
    dead_ = true;
    return dead();
  }
  if (sync) undo_.clear();
  return {};
}

Result<std::unique_ptr<Snapshot>> MemoryStore::snapshot() {
  if (dead_) return dead();
  return std::make_unique<MemorySnapshot>(*this);
}

Result<StoreStats> MemoryStore::stats() {
  if (dead_) return dead();
  return StoreStats{bytes_, std::numeric_limits<std::uint64_t>::max(), room_};
}

void MemoryStore::reopen() {
  HEADRACE_CHECK(open_.empty());
  dead_ = false;
}

void MemoryStore::crash(Random& random) {
  reopen();
  const auto kept = random.below(undo_.size() + 1);
  while (undo_.size() > kept) {
    ++now_;
    auto& undo = undo_.back();
    for (auto change = undo.rbegin(); change != undo.rend(); ++change) {
      set(rows_.try_emplace(change->first).first, std::move(change->second));
    }
    undo_.pop_back();
  }
  undo_.clear();  // what survived is on the disk now
}

void MemoryStore::apply(BytesView key, std::optional<BytesView> value, Undo& undo) {
  auto row = rows_.lower_bound(key);
  if (row == rows_.end() || row->first != key) {
    if (!value) return;
    row = rows_.emplace_hint(row, Bytes(key), std::vector<Version>{});
  }
  undo.emplace_back(row->first, row->second.empty() ? std::nullopt : row->second.back().value);
  set(row, value ? std::optional<Bytes>(*value) : std::nullopt);
}

void MemoryStore::set(Rows::iterator row, std::optional<Bytes> value) {
  auto& versions = row->second;
  if (!versions.empty() && versions.back().value) {
    bytes_ -= row->first.size() + versions.back().value->size();
  }
  if (value) bytes_ += row->first.size() + value->size();
  if (open_.empty()) {
    if (!value) {
      rows_.erase(row);
      return;
    }
    versions.clear();
  } else {
    unsettled_.push_back(row->first);
  }
  versions.push_back({now_, std::move(value)});
}

void MemoryStore::release(Moment moment) {
  open_.erase(open_.find(moment));
  if (!open_.empty()) return;
  for (const auto& key : unsettled_) settle(key);
  unsettled_.clear();
}

void MemoryStore::settle(const Bytes& key) {
  const auto row = rows_.find(key);
  if (row == rows_.end()) return;
  auto& versions = row->second;
  if (!versions.back().value) {
    rows_.erase(row);
    return;
  }
  versions.erase(versions.begin(), versions.end() - 1);
}

}  // namespace headrace
