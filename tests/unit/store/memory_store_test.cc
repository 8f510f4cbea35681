#include "core/store/memory_store.h"

#include "tests/unit/store/fixture.h"

using namespace headrace;
using test::get;
using test::put;
using test::Rows;
using test::rows;

TEST_CASE("after a power loss the synced batches stand and a prefix of the others") {
  std::set<std::size_t> survivors;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    MemoryStore store;
    REQUIRE(put(store, "a", "0", false));
    REQUIRE(put(store, "b", "0", true));
    for (const char* value : {"1", "2", "3"}) REQUIRE(put(store, "a", value, false));
    CHECK(store.unsynced() == 3);
    store.crash(random);
    CHECK(store.unsynced() == 0);
    CHECK(get(store, "b") == "0");
    survivors.insert(static_cast<std::size_t>(std::stoi(get(store, "a").value())));
  }
  CHECK(survivors == std::set<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("a lost batch is undone whole, erases and repeated keys included") {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    MemoryStore store;
    REQUIRE(put(store, "kept", "old"));
    WriteBatch batch;
    batch.erase("kept");
    batch.put("new", "1");
    batch.put("new", "2");
    batch.erase("absent");
    REQUIRE(store.write(batch, false));
    store.crash(random);
    const auto left = rows(store);
    CHECK((left == Rows{{"kept", "old"}} || left == Rows{{"new", "2"}}));
  }
}

TEST_CASE("when the process ends, unsynced batches stand") {
  MemoryStore store;
  REQUIRE(put(store, "a", "1", false));
  store.reopen();
  CHECK(get(store, "a") == "1");
}

TEST_CASE("a failed write kills the store in memory until it is opened again") {
  MemoryStore store;
  REQUIRE(put(store, "a", "1"));
  store.fail_next_write();
  const auto failed = put(store, "b", "1");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == Code::kStore);
  CHECK(put(store, "c", "1").error() == failed.error());
  CHECK(store.snapshot().error() == failed.error());
  CHECK(store.stats().error() == failed.error());
  store.reopen();
  CHECK(get(store, "a") == "1");
  CHECK(get(store, "c") == std::nullopt);
  CHECK(put(store, "c", "1"));
}

TEST_CASE("a batch whose write failed may or may not have reached the disk") {
  std::set<bool> outcomes;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    MemoryStore store;
    store.fail_next_write();
    REQUIRE_FALSE(put(store, "a", "1"));
    store.crash(random);
    outcomes.insert(get(store, "a").has_value());
  }
  CHECK(outcomes == std::set<bool>{false, true});
}

TEST_CASE("the store in memory has room as it is told, and counts its bytes") {
  MemoryStore store;
  CHECK(store.room());
  store.set_room(false);
  CHECK_FALSE(store.room());
  CHECK_FALSE(store.stats()->room);
  REQUIRE(put(store, "abc", "12345"));
  REQUIRE(put(store, "abc", "1"));
  CHECK(store.stats()->bytes == 4);
}
