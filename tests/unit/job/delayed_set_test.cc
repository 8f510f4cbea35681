#include "core/job/delayed_set.h"

#include <catch2/catch.hpp>

#include "core/base/random.h"
#include "core/job/lookup.h"
#include "core/store/keys.h"
#include "core/store/memory_store.h"
#include "tests/unit/job/must.h"

namespace headrace::job {
namespace {

using Entry = DelayedSet::Entry;

WallTime at(std::int64_t micros) { return WallTime{Micros{micros}}; }

// A set with its rows, as the owner keeps them.
class Delayed {
 public:
  void add(std::int64_t due) {
    const Entry entry{at(due), ++jobs_, 3, 4};
    model.insert(entry);
    WriteBatch batch;
    put_delayed(batch, entry);
    must(store.write(batch, false).has_value(), "store.write(batch, false)");
    set.add(entry);
  }
  std::optional<Entry> pop(std::int64_t now) {
    JobPtr unstored;
    const auto entry = set.pop_due(at(now), unstored);
    if (!entry) return {};
    must(entry->due <= at(now), "entry->due <= at(now)");
    must(model.erase(*entry) == 1, "model.erase(*entry) == 1");  // not one that came before
    WriteBatch batch;
    batch.erase(keys::delayed({entry->due, entry->job}));
    must(store.write(batch, false).has_value(), "store.write(batch, false)");
    return entry;
  }
  DelayedRows read(const Entry& from, std::size_t limit = DelayedSet::kInMemory / 2) {
    auto snapshot = store.snapshot();
    must(snapshot.has_value(), "snapshot");
    return read_delayed(**snapshot, from, limit);
  }
  void open() {
    set = {};
    set.found_on_disk();
    auto snapshot = store.snapshot();
    const auto rows = read_delayed(**snapshot, {}, DelayedSet::kInMemory / 2);
    set.refilled(rows.entries, rows.end);
  }

  DelayedSet set;
  MemoryStore store;
  std::set<Entry> model;

 private:
  std::uint64_t jobs_ = 0;
};

}  // namespace

TEST_CASE("Delayed jobs come due in the order of their times, and not before") {
  Delayed d;
  for (const auto due : {500, 100, 300}) d.add(due);
  CHECK(d.set.next() == at(100));
  CHECK_FALSE(d.pop(99));
  REQUIRE(d.pop(100));
  CHECK(d.pop(1000)->due == at(300));
  CHECK(d.pop(1000)->due == at(500));
  CHECK_FALSE(d.pop(1000));
  CHECK_FALSE(d.set.next());
  CHECK_FALSE(d.set.next_refill());
}

TEST_CASE("A job of level memory comes due with the job itself, since it has no row") {
  DelayedSet set;
  auto job = std::make_unique<Job>();
  job->number = 9;
  job->level = Level::kMemory;
  job->due = at(50);
  set.add_unstored(std::move(job));
  set.add({at(60), 10, 1, 4});
  JobPtr unstored;
  REQUIRE(set.pop_due(at(60), unstored));
  REQUIRE(unstored != nullptr);
  CHECK(unstored->number == 9);
  unstored.reset();
  CHECK(set.pop_due(at(60), unstored)->job == 10);
  CHECK(unstored == nullptr);
}

TEST_CASE("Beyond the limit the latest go to disk only, and are read when memory runs low") {
  Delayed d;
  constexpr std::int64_t kAll = static_cast<std::int64_t>(DelayedSet::kInMemory) + 2000;
  for (std::int64_t due = kAll; due > 0; --due) d.add(due);  // each earlier than all before it
  std::int64_t expected = 1;
  int reads = 0;
  while (const auto entry = d.pop(kAll)) {
    REQUIRE(entry->due == at(expected++));
    if (const auto from = d.set.next_refill()) {
      ++reads;
      CHECK_FALSE(d.set.next_refill());  // one at a time
      const auto rows = d.read(*from);
      d.set.refilled(rows.entries, rows.end);
    }
  }
  CHECK(expected == kAll + 1);
  CHECK(reads >= 1);
  CHECK(d.model.empty());
}

TEST_CASE("A job added while a read is under way is not lost, wherever the read ends") {
  Delayed d;
  constexpr auto kHalf = static_cast<std::int64_t>(DelayedSet::kInMemory / 2);
  for (std::int64_t i = 1; i <= 3 * kHalf; ++i) d.add(i * 10);
  d.open();  // memory holds the first third
  const auto from = d.set.next_refill();
  REQUIRE(from);
  const auto rows = d.read(*from);
  REQUIRE_FALSE(rows.end);
  d.add(kHalf * 10 + 5);  // just beyond the horizon: the read has not seen it
  d.add(kHalf * 20 + 5);  // just beyond what it has read
  d.add(5);               // before everything
  d.set.refilled(rows.entries, rows.end);
  while (!d.model.empty()) {
    const auto soonest = *d.model.begin();
    const auto entry = d.pop(kHalf * 1000);
    REQUIRE(entry);
    REQUIRE(*entry == soonest);
    if (const auto more = d.set.next_refill()) {
      const auto next = d.read(*more);
      d.set.refilled(next.entries, next.end);
    }
  }
}

TEST_CASE("Whatever the order of adds, pops and reads, each delayed job comes due once") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Delayed d;
    std::int64_t now = 0;
    for (int i = 0; i < 60'000; ++i) d.add(random.between(1, 1'000'000));
    d.open();
    std::optional<Entry> reading;
    const auto step = [&] {
      if (random.chance(0.6)) {
        for (auto i = random.below(300); i > 0; --i)
          d.add(now + random.between(0, random.chance(0.5) ? 2000 : 1'000'000));
      } else {
        now += random.between(0, 20'000);
        for (auto i = random.below(3000); i > 0 && d.pop(now); --i) {
        }
      }
    };
    for (int i = 0; i < 300; ++i) {
      step();
      if (!reading) reading = d.set.next_refill();
      if (reading && random.chance(0.5)) {
        const auto rows = d.read(*reading, static_cast<std::size_t>(random.between(100, 25'000)));
        for (auto j = random.below(4); j > 0; --j) step();
        d.set.refilled(rows.entries, rows.end);
        reading.reset();
      }
    }
    for (int idle = 0; idle < 2;) {
      if (!reading) reading = d.set.next_refill();
      if (reading) {
        const auto rows = d.read(*reading);
        d.set.refilled(rows.entries, rows.end);
        reading.reset();
      }
      idle = d.pop(4'000'000) ? 0 : idle + 1;
    }
    CHECK(d.model.empty());
  }
}

}  // namespace headrace::job
