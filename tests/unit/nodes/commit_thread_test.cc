#include "nodes/runtime/commit_thread.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/nodes/support.h"

using namespace headrace;
using headrace::runtime::CommitReport;
using headrace::runtime::CommitThread;
using headrace::test::Slot;

namespace {

struct Written {
  std::vector<std::string> keys;
  bool sync = false;
};

// Says what was written, and can be held up in the middle of a write.
class RecordingStore final : public Store {
 public:
  Result<void> write(const WriteBatch& batch, bool sync) override {
    Written written;
    written.sync = sync;
    batch.each([&](BytesView key, BytesView) { written.keys.emplace_back(key); }, [](BytesView) {});
    writes.change([&](auto& all) { all.push_back(written); });
    gate.wait([](bool shut) { return !shut; });
    if (failing.get()) return fail(Code::kStore, "the disk is gone");
    return {};
  }
  Result<std::unique_ptr<Snapshot>> snapshot() override { return fail(Code::kStore, "none"); }
  Result<StoreStats> stats() override {
    looks.change([](int& count) { ++count; });
    return StoreStats{};
  }
  bool room() const override { return has_room; }

  Slot<std::vector<Written>> writes;
  Slot<bool> gate;  // shut while true
  Slot<bool> failing;
  Slot<int> looks;
  std::atomic<bool> has_room{true};
};

Commit commit(CommitNumber number, Level level) {
  Commit commit{number, level, {}};
  commit.batch.put("k" + std::to_string(number), "value");
  return commit;
}

struct Fixture {
  RecordingStore store;
  Slot<std::vector<CommitReport>> reports;
  std::optional<CommitThread> commits;

  Fixture() {
    commits.emplace(store, [this](CommitReport report) {
      reports.change([&](auto& all) { all.push_back(report); });
    });
    REQUIRE(commits->start());
  }
  bool wait_written(CommitNumber number) {
    return reports.wait([&](const auto& all) {
      return !all.empty() && (all.back().written >= number || all.back().failed);
    });
  }
  bool wait_writes(std::size_t count) {
    return store.writes.wait([&](const auto& all) { return all.size() >= count; });
  }
};

}  // namespace

TEST_CASE("what is submitted during a write is joined into the next one, in order") {
  Fixture fixture;
  fixture.store.gate.change([](bool& shut) { shut = true; });
  fixture.commits->submit(commit(1, Level::kDisk));
  REQUIRE(fixture.wait_writes(1));
  for (CommitNumber number = 2; number <= 5; ++number) {
    fixture.commits->submit(commit(number, Level::kDisk));
  }
  fixture.store.gate.change([](bool& shut) { shut = false; });
  REQUIRE(fixture.wait_written(5));
  const auto writes = fixture.store.writes.get();
  REQUIRE(writes.size() == 2);
  CHECK(writes[0].keys == std::vector<std::string>{"k1"});
  CHECK(writes[1].keys == std::vector<std::string>{"k2", "k3", "k4", "k5"});
  CHECK(fixture.reports.get().back().synced == 5);
}

TEST_CASE("a joined write is synced if one of its batches asks for it") {
  Fixture fixture;
  fixture.store.gate.change([](bool& shut) { shut = true; });
  fixture.commits->submit(commit(1, Level::kOs));
  REQUIRE(fixture.wait_writes(1));
  fixture.commits->submit(commit(2, Level::kOs));
  fixture.commits->submit(commit(3, Level::kDisk));
  fixture.store.gate.change([](bool& shut) { shut = false; });
  REQUIRE(fixture.wait_written(3));
  const auto writes = fixture.store.writes.get();
  CHECK_FALSE(writes[0].sync);
  CHECK(writes[1].sync);
  const auto reports = fixture.reports.get();
  CHECK(reports[0].written == 1);
  CHECK(reports[0].synced == 0);
  CHECK(reports[1].synced == 3);
}

TEST_CASE("what only the system holds is synced by itself after a while") {
  Fixture fixture;
  fixture.commits->submit(commit(1, Level::kOs));
  REQUIRE(
      fixture.reports.wait([](const auto& all) { return !all.empty() && all.back().synced == 1; }));
  const auto writes = fixture.store.writes.get();
  REQUIRE(writes.size() == 2);
  CHECK_FALSE(writes[0].sync);
  CHECK(writes[1].sync);
  CHECK(writes[1].keys.empty());
}

TEST_CASE("batches are not joined beyond the limit of one write") {
  Fixture fixture;
  fixture.store.gate.change([](bool& shut) { shut = true; });
  fixture.commits->submit(commit(1, Level::kDisk));
  REQUIRE(fixture.wait_writes(1));
  for (CommitNumber number = 2; number <= 4; ++number) {
    auto large = commit(number, Level::kDisk);
    large.batch.put("large", std::string(limits::kJoinedBytes / 2, 'x'));
    fixture.commits->submit(std::move(large));
  }
  fixture.store.gate.change([](bool& shut) { shut = false; });
  REQUIRE(fixture.wait_written(4));
  CHECK(fixture.store.writes.get().size() == 4);
}

TEST_CASE("a failed write is reported once and nothing is written after it") {
  Fixture fixture;
  fixture.store.failing.change([](bool& failing) { failing = true; });
  fixture.commits->submit(commit(1, Level::kDisk));
  REQUIRE(fixture.wait_written(1));
  fixture.commits->submit(commit(2, Level::kDisk));
  fixture.commits.reset();
  const auto reports = fixture.reports.get();
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].failed.has_value());
  CHECK(reports[0].failed->code == Code::kStore);
  CHECK(reports[0].written == 0);
  CHECK(fixture.store.writes.get().size() == 1);
}

TEST_CASE("ending the commit thread writes what was submitted and syncs it") {
  Fixture fixture;
  fixture.commits->submit(commit(1, Level::kOs));
  fixture.commits->submit(commit(2, Level::kOs));
  fixture.commits.reset();
  CHECK(fixture.reports.get().back().written == 2);
  CHECK(fixture.reports.get().back().synced == 2);
  CHECK(fixture.store.writes.get().back().sync);
}

TEST_CASE("a full disk is looked at again though nothing is written") {
  RecordingStore store;
  store.has_room = false;
  CommitThread commits(store, [](CommitReport) {});
  REQUIRE(commits.start());
  CHECK(store.looks.wait([](int count) { return count >= 2; }));
}
