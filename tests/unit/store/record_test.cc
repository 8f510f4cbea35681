#include "core/store/record.h"

#include <catch2/catch.hpp>

using namespace headrace;

TEST_CASE("a sealed record opens to its version and body") {
  for (const Bytes& body : {Bytes{}, Bytes{"x"}, Bytes(100'000, '\0')}) {
    const auto sealed = record::seal(3, body);
    CHECK(sealed.size() == record::kHeadBytes + body.size());
    const auto opened = record::open(sealed);
    REQUIRE(opened);
    CHECK(opened->version == 3);
    CHECK(opened->body == body);
  }
}

TEST_CASE("the checksum is the CRC-32 of version and body") {
  // CRC-32 of "123456789" is cbf43926, its published check value; '1' stands as the version.
  CHECK(record::seal('1', "23456789") == Bytes{"1\xcb\xf4\x39\x26"
                                               "23456789"});
}

TEST_CASE("every flipped bit of a record is found") {
  const auto sealed = record::seal(1, "the body of a job");
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    auto damaged = sealed;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(record::open(damaged));
  }
}

TEST_CASE("a record cut short at any place is found") {
  const auto sealed = record::seal(1, "body");
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    const auto opened = record::open(BytesView(sealed).substr(0, size));
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Code::kStore);
  }
}

TEST_CASE("a record put into a batch is the sealed one") {
  WriteBatch batch;
  record::put(batch, "k", 2, "body");
  batch.each(
      [](BytesView key, BytesView value) {
        CHECK(key == "k");
        CHECK(value == record::seal(2, "body"));
      },
      [](BytesView) { FAIL(); });
}
