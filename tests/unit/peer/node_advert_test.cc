#include "core/peer/node_advert.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/wire/codec.h"

namespace headrace {

TEST_CASE("An advert gives back its consumers and registrations") {
  const Bytes registrations = "whatever core/event writes";
  const Bytes bytes = encode_advert({{{7, "a.*", 3}, {8, "*", 1}}, registrations});
  const auto back = decode_advert(bytes);
  REQUIRE(back);
  REQUIRE(back->consumers.size() == 2);
  CHECK(back->consumers[0].number == 7);
  CHECK(back->consumers[0].topics == "a.*");
  CHECK(back->consumers[0].parallel == 3);
  CHECK(back->consumers[1].number == 8);
  CHECK(back->registrations == registrations);
}

TEST_CASE("No bytes are an advert of nothing") {
  const auto advert = decode_advert({});
  REQUIRE(advert);
  CHECK(advert->consumers.empty());
  CHECK(advert->registrations.empty());
}

TEST_CASE("An advert cut anywhere is refused") {
  const Bytes bytes = encode_advert({{{7, "a.*", 3}}, "registrations"});
  for (std::size_t size = 1; size < bytes.size(); ++size)
    REQUIRE_FALSE(decode_advert(BytesView(bytes).substr(0, size)));
}

TEST_CASE("Fields that a newer version appended are passed over") {
  Bytes bytes;
  wire::Writer(bytes).array(3).array(1).array(4).u64(7).text("a").u64(2).text("new").bin("r").map(
      0);
  const auto back = decode_advert(bytes);
  REQUIRE(back);
  REQUIRE(back->consumers.size() == 1);
  CHECK(back->consumers[0].parallel == 2);
  CHECK(back->registrations == "r");
}

TEST_CASE("An advert at its limit of consumers is read, one past it refused") {
  for (const std::size_t more : {0, 1}) {
    NodeAdvert advert;
    for (std::size_t i = 0; i < limits::kConsumers + more; ++i) {
      advert.consumers.push_back({static_cast<job::ConsumerNumber>(i + 1), "t", 1});
    }
    CHECK(decode_advert(encode_advert(advert)).has_value() == (more == 0));
  }
}

}  // namespace headrace
