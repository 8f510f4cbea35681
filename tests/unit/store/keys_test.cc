#include "core/store/keys.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace headrace;

namespace {

WallTime at(std::int64_t micros) { return WallTime{Micros{micros}}; }

}  // namespace

TEST_CASE("keys are the space's letter and big-endian numbers of fixed width") {
  CHECK(keys::job(0x0102030405060708).view() == BytesView{"j\1\2\3\4\5\6\7\10", 9});
  CHECK(keys::topic(7).view() == BytesView{"t\0\0\0\7", 5});
  CHECK(keys::meta("format").view() == "mformat");
  CHECK(keys::ready({1, 2, 9, 3}).view() == BytesView{"r\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\0\3", 18});
}

TEST_CASE("ready keys sort by queue, topic, falling priority, then number") {
  CHECK(keys::ready({1, 9, 0, 9}).view() < keys::ready({2, 0, 9, 0}).view());
  CHECK(keys::ready({1, 1, 0, 9}).view() < keys::ready({1, 2, 9, 0}).view());
  CHECK(keys::ready({1, 1, 9, 9}).view() < keys::ready({1, 1, 8, 0}).view());
  CHECK(keys::ready({1, 1, 4, 255}).view() < keys::ready({1, 1, 4, 256}).view());
}

TEST_CASE("times sort as times, before 1970 too") {
  const auto low = std::numeric_limits<std::int64_t>::min();
  const auto high = std::numeric_limits<std::int64_t>::max();
  CHECK(keys::delayed({at(low), 9}).view() < keys::delayed({at(-1), 0}).view());
  CHECK(keys::delayed({at(-1), 9}).view() < keys::delayed({at(0), 0}).view());
  CHECK(keys::delayed({at(0), 9}).view() < keys::delayed({at(high), 0}).view());
  CHECK(keys::history({1, at(5), 9}).view() < keys::history({1, at(6), 0}).view());
}

TEST_CASE("what is built is parsed to the same") {
  const auto id = JobId::from_halves(1, 2);
  const keys::Ready ready{1, 2, 4, ~0ULL};
  const keys::Delayed delayed{at(-5), 7};
  const keys::History history{3, at(1'000'000), 8};
  CHECK(keys::parse_topic(keys::topic(7)) == 7);
  CHECK(keys::parse_job(keys::job(8)) == 8);
  CHECK(keys::parse_payload(keys::payload(9)) == 9);
  CHECK(keys::parse_active(keys::active(10)) == 10);
  CHECK(keys::parse_job_id(keys::job_id(id)) == id);
  CHECK(keys::parse_ready(keys::ready(ready)) == ready);
  CHECK(keys::parse_delayed(keys::delayed(delayed)) == delayed);
  CHECK(keys::parse_history(keys::history(history)) == history);
}

TEST_CASE("a key of another space, cut short or too long is not parsed") {
  const Bytes key(keys::job(8).view());
  CHECK_FALSE(keys::parse_payload(key));
  CHECK_FALSE(keys::parse_job(key + "x"));
  for (std::size_t size = 0; size < key.size(); ++size) {
    CHECK_FALSE(keys::parse_job(BytesView(key).substr(0, size)));
  }
  Bytes ready(keys::ready({1, 2, 0, 3}).view());
  ready[9] = 10;  // a priority below 0
  CHECK_FALSE(keys::parse_ready(ready));
}

TEST_CASE("a key says which space it is in") {
  CHECK(keys::in_space(keys::job(1), keys::Space::kJob));
  CHECK_FALSE(keys::in_space(keys::job(1), keys::Space::kPayload));
  CHECK_FALSE(keys::in_space({}, keys::Space::kJob));
}
