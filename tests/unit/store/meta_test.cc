#include "core/store/meta.h"

#include "core/store/keys.h"
#include "core/store/memory_store.h"
#include "core/store/quarantine.h"
#include "tests/unit/store/fixture.h"

using namespace headrace;

namespace {

WallTime millis(std::int64_t count) { return WallTime{Millis{count}}; }

}  // namespace

TEST_CASE("an empty store knows nothing of its node") {
  MemoryStore store;
  const auto now = store.snapshot().value();
  CHECK(meta::format_version(*now).value() == std::nullopt);
  CHECK(meta::last_incarnation(*now).value() == 0);
  CHECK(meta::identity(*now).value().empty());
  CHECK(meta::peers(*now).value().empty());
}

TEST_CASE("facts are read back as they were set") {
  MemoryStore store;
  WriteBatch batch;
  meta::set_format_version(batch, 7);
  meta::set_last_incarnation(batch, 0x1234567890abcdef);
  meta::set_identity(batch, "who");
  meta::set_peers(batch, "whom");
  REQUIRE(store.write(batch, true));
  const auto now = store.snapshot().value();
  CHECK(meta::format_version(*now).value() == 7);
  CHECK(meta::last_incarnation(*now).value() == 0x1234567890abcdef);
  CHECK(meta::identity(*now).value() == "who");
  CHECK(meta::peers(*now).value() == "whom");
}

TEST_CASE("a damaged fact is an error that names it") {
  MemoryStore store;
  REQUIRE(test::put(store, keys::meta("incarnation"), "nonsense"));
  const auto read = meta::last_incarnation(*store.snapshot().value());
  REQUIRE_FALSE(read);
  CHECK(read.error().code == Code::kStore);
  CHECK(read.error().message.find("incarnation") != std::string::npos);
}

TEST_CASE("an incarnation grows with the clock, and by one where the clock went backwards") {
  CHECK(meta::next_incarnation(0, millis(1000)) == 1000);
  CHECK(meta::next_incarnation(999, millis(1000)) == 1000);
  CHECK(meta::next_incarnation(1000, millis(1000)) == 1001);
  CHECK(meta::next_incarnation(5000, millis(1000)) == 5001);
  CHECK(meta::next_incarnation(0, millis(-7)) == 1);
}

TEST_CASE("a row in quarantine is out of the way, with its reason, and counted") {
  MemoryStore store;
  const auto key = keys::job(5);
  REQUIRE(test::put(store, key, "unreadable"));
  WriteBatch batch;
  quarantine(batch, key, "unreadable", "the checksum does not match");
  REQUIRE(store.write(batch, true));

  CHECK(test::get(store, key) == std::nullopt);
  CHECK(count_quarantined(*store.snapshot().value()).value() == 1);
  const auto stored = test::get(store, "q" + Bytes(key.view()));
  REQUIRE(stored);
  const auto opened = open_quarantined(*stored);
  REQUIRE(opened);
  CHECK(opened->reason == "the checksum does not match");
  CHECK(opened->value == "unreadable");
}

TEST_CASE("a reason for quarantine is cut to its limit and the value kept whole") {
  WriteBatch batch;
  quarantine(batch, "jx", "value", std::string(2'001, 'r'));
  Bytes stored;
  batch.each([&](BytesView, BytesView value) { stored = value; }, [](BytesView) {});
  CHECK(open_quarantined(stored)->reason.size() == 2'000);
  CHECK(open_quarantined(stored)->value == "value");
  CHECK_FALSE(open_quarantined("junk"));
}
