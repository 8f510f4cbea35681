#include "nodes/runtime/read_thread.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/store/memory_store.h"
#include "tests/unit/nodes/support.h"

using namespace headrace;
using headrace::runtime::ReadThread;
using headrace::test::Slot;

TEST_CASE("reads run in order against what is stored, and their continuations come back") {
  MemoryStore store;
  WriteBatch batch;
  batch.put("key", "value");
  REQUIRE(store.write(batch, true));
  Slot<std::vector<job::Continuation>> done;
  Bytes seen;
  {
    ReadThread reads(
        store,
        [&](std::vector<job::Continuation> some) {
          done.change([&](auto& all) { all.insert(all.end(), some.begin(), some.end()); });
        },
        [](const Error&) {});
    REQUIRE(reads.start());
    for (const char* mark : {"1", "2"}) {
      reads.submit([&seen, mark](const Snapshot& snapshot) -> job::Continuation {
        const auto value = snapshot.get("key").value().value();
        return [&seen, mark, value](const job::Now&) { seen += mark + value; };
      });
    }
    REQUIRE(done.wait([](const auto& all) { return all.size() == 2; }));
  }
  for (const auto& continuation : done.get()) continuation({});
  CHECK(seen == "1value2value");
}

TEST_CASE("a store that gives no snapshot is reported") {
  MemoryStore store;
  store.fail_next_write();
  WriteBatch batch;
  batch.put("key", "value");
  REQUIRE_FALSE(store.write(batch, true));
  Slot<int> failures;
  ReadThread reads(
      store, [](const std::vector<job::Continuation>&) {},
      [&](const Error& error) {
        failures.change([&](int& count) { count += error.code == Code::kStore ? 1 : 0; });
      });
  REQUIRE(reads.start());
  reads.submit([](const Snapshot&) { return job::Continuation{}; });
  CHECK(failures.wait([](int count) { return count == 1; }));
}
