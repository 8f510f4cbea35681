// What store.h promises, asked of both stores, and both against each other over random histories.
#include <rapidcheck/catch.h>

#include <cstdlib>
#include <vector>

#include "core/store/memory_store.h"
#include "tests/unit/store/fixture.h"

using namespace headrace;
using test::get;
using test::put;
using test::Rows;
using test::rows;

namespace {

struct Op {
  enum class Kind { kPut, kErase, kWrite, kSyncedWrite, kOpenSnapshot, kEndSnapshot, kReopen };
  Kind kind = Kind::kPut;
  Bytes key;
  Bytes value;
};

rc::Gen<Op> any_op() {
  using Kind = Op::Kind;
  const auto bytes = [](int longest) {
    return rc::gen::resize(longest, rc::gen::container<Bytes>(rc::gen::element('\0', 'b', '\xff')));
  };
  return rc::gen::build<Op>(
      rc::gen::set(&Op::kind, rc::gen::weightedElement<Kind>({{8, Kind::kPut},
                                                              {4, Kind::kErase},
                                                              {3, Kind::kWrite},
                                                              {1, Kind::kSyncedWrite},
                                                              {2, Kind::kOpenSnapshot},
                                                              {1, Kind::kEndSnapshot},
                                                              {1, Kind::kReopen}})),
      rc::gen::set(&Op::key, bytes(3)), rc::gen::set(&Op::value, bytes(20)));
}

Rows rows_of(const Snapshot& snapshot) {
  Rows rows;
  const auto cursor = snapshot.cursor();
  for (cursor->seek({}); cursor->valid(); cursor->next()) {
    if (!cursor->key().starts_with('m')) rows.emplace(cursor->key(), cursor->value());
  }
  RC_ASSERT(cursor->status().has_value());
  return rows;
}

// A LevelDbStore and a MemoryStore that are told the same.
class Pair {
 public:
  explicit Pair(test::fs::path path) : path_(std::move(path)), disk_(test::open_store(path_)) {}

  void run(const Op& op) {
    switch (op.kind) {
      case Op::Kind::kPut: batch_.put(op.key, op.value); break;
      case Op::Kind::kErase: batch_.erase(op.key); break;
      case Op::Kind::kWrite: write(false); break;
      case Op::Kind::kSyncedWrite: write(true); break;
      case Op::Kind::kOpenSnapshot: open_snapshot(); break;
      case Op::Kind::kEndSnapshot:
        if (!snapshots_.empty()) snapshots_.erase(snapshots_.begin());
        break;
      case Op::Kind::kReopen:
        snapshots_.clear();
        disk_.reset();
        disk_ = test::open_store(path_);
        memory_.reopen();
        break;
    }
  }

  void compare(const Bytes& key) {
    open_snapshot();
    for (const auto& [disk, memory, then] : snapshots_) {
      RC_ASSERT(rows_of(*disk) == then);
      RC_ASSERT(rows_of(*memory) == then);
      RC_ASSERT(disk->get(key).value() == memory->get(key).value());
      const auto from_disk = disk->cursor();
      const auto from_memory = memory->cursor();
      from_disk->seek("n" + key);  // past the store's own facts
      from_memory->seek("n" + key);
      RC_ASSERT(from_disk->valid() == from_memory->valid());
      if (from_disk->valid()) RC_ASSERT(from_disk->key() == from_memory->key());
    }
  }

 private:
  struct Both {
    std::unique_ptr<Snapshot> disk;
    std::unique_ptr<Snapshot> memory;
    Rows then;  // what stood there when it was made
  };

  void write(bool sync) {
    RC_ASSERT(disk_->write(batch_, sync).has_value());
    RC_ASSERT(memory_.write(batch_, sync).has_value());
    batch_.each([&](BytesView key, BytesView value) { model_[Bytes(key)] = value; },
                [&](BytesView key) { model_.erase(Bytes(key)); });
    batch_.clear();
  }
  void open_snapshot() {
    snapshots_.push_back({disk_->snapshot().value(), memory_.snapshot().value(), model_});
  }

  const test::fs::path path_;
  std::unique_ptr<LevelDbStore> disk_;
  MemoryStore memory_;
  WriteBatch batch_;
  Rows model_;
  std::vector<Both> snapshots_;
};

}  // namespace

TEST_CASE("both stores agree with a plain map over any history of batches, snapshots and reopens") {
  rc::prop("agreement", [](const Bytes& key) {
    const auto history = *rc::gen::container<std::vector<Op>>(any_op());
    const test::TempDir directory;
    Pair pair(directory.path());
    for (const auto& op : history) pair.run(op);
    pair.compare(key);
  });
}

TEST_CASE("a snapshot does not see later writes") {
  const test::TempDir directory;
  const auto disk = test::open_store(directory.path());
  MemoryStore memory;
  for (Store* store : {static_cast<Store*>(disk.get()), static_cast<Store*>(&memory)}) {
    REQUIRE(put(*store, "x", "1"));
    REQUIRE(put(*store, "y", "1"));
    const auto before = store->snapshot().value();
    const auto walk = before->cursor();
    walk->seek("x");
    WriteBatch batch;
    batch.put("x", "2");
    batch.erase("y");
    batch.put("z", "2");
    REQUIRE(store->write(batch, true));
    CHECK(before->get("x").value() == "1");
    CHECK(before->get("z").value() == std::nullopt);
    CHECK(walk->value() == "1");
    walk->next();
    CHECK(walk->key() == "y");
    walk->next();
    CHECK_FALSE(walk->valid());
    CHECK(rows(*store) == Rows{{"x", "2"}, {"z", "2"}});
  }
}

TEST_CASE("a cursor finds the first key that is not less") {
  MemoryStore store;
  for (const char* key : {"b", "d"}) REQUIRE(put(store, key, key));
  const auto now = store.snapshot().value();
  const auto cursor = now->cursor();
  CHECK_FALSE(cursor->valid());
  for (const auto& [sought, found] : {std::pair{"a", "b"}, {"b", "b"}, {"c", "d"}}) {
    cursor->seek(sought);
    REQUIRE(cursor->valid());
    CHECK(cursor->key() == found);
  }
  cursor->seek("e");
  CHECK_FALSE(cursor->valid());
}
