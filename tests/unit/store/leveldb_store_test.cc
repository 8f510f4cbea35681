// The disk's side: what survives, what failing does, what damage looks like.
#include "core/store/leveldb_store.h"

#include <algorithm>

#include "core/base/random.h"
#include "core/store/meta.h"
#include "tests/unit/store/fault_env.h"
#include "tests/unit/store/fixture.h"

using namespace headrace;
using test::get;
using test::put;
using test::Rows;
using test::rows;
namespace fs = std::filesystem;

namespace {

LevelDbOptions on(test::FaultEnv& env) {
  auto options = test::roomy();
  options.env = &env;
  return options;
}

Rows many_rows() {
  Rows many;
  Random random(7);
  for (int i = 0; i < 3000; ++i) {
    Bytes value;
    for (int word = 0; word < 12; ++word) value += std::to_string(random.next());
    many.emplace("k" + std::to_string(10'000 + i), value);
  }
  return many;
}

void fill(const fs::path& path, const Rows& many) {
  const auto store = test::open_store(path);
  WriteBatch batch;
  for (const auto& [key, value] : many) {
    batch.put(key, value);
    if (batch.count() < 100) continue;
    REQUIRE(store->write(batch, true));
    batch.clear();
  }
}

// The largest file of a kind: the one that holds the rows.
fs::path file_of_kind(const fs::path& directory, const std::string& part) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(directory / "db")) {
    if (entry.path().filename().string().find(part) == std::string::npos) continue;
    if (found.empty() || entry.file_size() > fs::file_size(found)) found = entry.path();
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

void check_refused_and_kept(const fs::path& directory, const std::string& word) {
  const auto before = test::files_in(directory / "db");
  const auto opened = LevelDbStore::open(directory, test::roomy());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::kStore);
  CHECK(opened.error().message.find(directory.string()) != std::string::npos);
  CHECK(opened.error().message.find(word) != std::string::npos);
  const auto after = test::files_in(directory / "db");
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

}  // namespace

TEST_CASE("what was written is there after a reopen") {
  const test::TempDir directory;
  const auto many = many_rows();
  fill(directory.path(), many);
  for (int round = 0; round < 2; ++round) {
    CHECK(rows(*test::open_store(directory.path())) == many);
  }
}

TEST_CASE("a power loss takes only a suffix of what was not synced") {
  std::set<std::size_t> survivors;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const test::TempDir directory;
    Random random(seed);
    PreadEnv below;
    test::FaultEnv env(below);
    {
      const auto store = test::open_store(directory.path(), on(env));
      for (const char* key : {"a", "b", "c"}) REQUIRE(put(*store, key, "synced"));
      for (const char* key : {"d", "e", "f"}) REQUIRE(put(*store, key, Bytes(100, 'x'), false));
    }
    env.power_loss(random);
    const auto left = rows(*test::open_store(directory.path(), on(env)));
    REQUIRE(left.size() >= 3);
    survivors.insert(left.size());
    auto row = left.begin();
    for (char key = 'a'; row != left.end(); ++key, ++row) CHECK(row->first == Bytes(1, key));
  }
  CHECK(survivors.size() > 1);
}

TEST_CASE("opening syncs what it found") {
  const test::TempDir directory;
  Random random(1);
  PreadEnv below;
  test::FaultEnv env(below);
  REQUIRE(put(*test::open_store(directory.path(), on(env)), "a", "never synced", false));
  test::open_store(directory.path(), on(env));
  env.power_loss(random);
  CHECK(get(*test::open_store(directory.path(), on(env)), "a") == "never synced");
}

TEST_CASE("after a failed write the handle is dead, and a reopen has all that was acknowledged") {
  const bool sync_fails = GENERATE(false, true);
  const test::TempDir directory;
  PreadEnv below;
  test::FaultEnv env(below);
  auto store = test::open_store(directory.path(), on(env));
  REQUIRE(put(*store, "a", "1"));
  sync_fails ? env.fail_next_sync() : env.fail_next_append();
  const auto failed = put(*store, "b", "1");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == Code::kStore);
  CHECK(failed.error().message.find(sync_fails ? "Input/output error" : "No space left") !=
        std::string::npos);
  CHECK(put(*store, "c", "1").error() == failed.error());
  CHECK(store->snapshot().error() == failed.error());
  CHECK(store->stats().error() == failed.error());

  store.reset();
  store = test::open_store(directory.path(), on(env));
  CHECK(get(*store, "a") == "1");
  CHECK(get(*store, "c") == std::nullopt);
  CHECK(put(*store, "c", "1"));
}

TEST_CASE("a log cut short anywhere in its last batch opens without that batch") {
  const test::TempDir directory;
  {
    const auto store = test::open_store(directory.path());
    REQUIRE(put(*store, "a", "1"));
    REQUIRE(put(*store, "b", Bytes(50'000, 'x')));
  }
  const auto log = file_of_kind(directory.path(), ".log");
  const auto whole = test::read_file(log);
  for (const std::size_t cut : {1U, 100U, 20'000U, 40'000U, 49'999U}) {
    const test::TempDir copy;
    fs::copy(directory.path(), copy.path(), fs::copy_options::recursive);
    fs::resize_file(copy.path() / "db" / log.filename(), whole.size() - cut);
    CHECK(rows(*test::open_store(copy.path())) == Rows{{"a", "1"}});
  }
}

TEST_CASE("a flipped bit inside the log is an error, and nothing is deleted") {
  const test::TempDir directory;
  fill(directory.path(), many_rows());
  const auto log = file_of_kind(directory.path(), ".log");
  test::flip(log, fs::file_size(log) / 2);
  check_refused_and_kept(directory.path(), "damaged");
}

TEST_CASE("a damaged manifest is an error, and nothing is deleted") {
  const test::TempDir directory;
  fill(directory.path(), many_rows());
  test::flip(file_of_kind(directory.path(), "MANIFEST"), 10);
  check_refused_and_kept(directory.path(), "damaged");
}

TEST_CASE("a missing CURRENT or table is an error, and nothing is deleted") {
  const test::TempDir directory;
  fill(directory.path(), many_rows());
  test::open_store(directory.path());  // moves the log into a table
  fs::remove(GENERATE(true, false) ? directory.path() / "db" / "CURRENT"
                                   : file_of_kind(directory.path(), ".ldb"));
  check_refused_and_kept(directory.path(), "damaged");
}

TEST_CASE("no flipped bit of a table goes unnoticed by a walk, or changes what it reads") {
  const test::TempDir directory;
  const auto many = many_rows();
  fill(directory.path(), many);
  test::open_store(directory.path());
  const auto table = file_of_kind(directory.path(), ".ldb");
  Random random(3);
  int found = 0;
  for (int round = 0; round < 20; ++round) {
    const test::TempDir copy;
    fs::copy(directory.path(), copy.path(), fs::copy_options::recursive);
    test::flip(copy.path() / "db" / table.filename(), random.below(fs::file_size(table)));
    const auto read = test::try_rows(*test::open_store(copy.path()));
    if (read) CHECK(*read == many);
    if (!read) CHECK(read.error().code == Code::kStore);
    if (!read) ++found;
  }
  CHECK(found > 15);  // the rest fell on padding and the filter-less meta block
}

TEST_CASE("rows outside a damaged block are still read") {
  const test::TempDir directory;
  const auto many = many_rows();
  fill(directory.path(), many);
  test::open_store(directory.path());
  test::flip(file_of_kind(directory.path(), ".ldb"), 100);
  const auto store = test::open_store(directory.path());
  const auto now = store->snapshot().value();
  CHECK_FALSE(now->get(many.begin()->first));
  CHECK(now->get(many.rbegin()->first).value() == many.rbegin()->second);
}

TEST_CASE("a store of a newer format is refused by name of both versions") {
  const test::TempDir directory;
  WriteBatch batch;
  meta::set_format_version(batch, meta::kFormatVersion + 1);
  REQUIRE(test::open_store(directory.path())->write(batch, true));
  const auto opened = LevelDbStore::open(directory.path(), test::roomy());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == Code::kStore);
  for (const auto version : {meta::kFormatVersion, meta::kFormatVersion + 1}) {
    CHECK(opened.error().message.find(" " + std::to_string(version)) != std::string::npos);
  }
}

TEST_CASE("statistics grow with the data and tell the free space") {
  const test::TempDir directory;
  const auto store = test::open_store(directory.path());
  const auto before = store->stats().value();
  REQUIRE(put(*store, "a", Bytes(1'000'000, 'x')));
  const auto after = store->stats().value();
  CHECK(after.bytes >= before.bytes + 1'000'000);
  CHECK(after.free_bytes == 1ULL << 39);
  CHECK(after.room);
}
