#include "core/event/registration_advert.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/event/event_id.h"

using namespace headrace;
using namespace std::string_literals;

namespace {

bool decodes(BytesView bytes, RegistrationAdvert& advert) {
  wire::Reader in(bytes);
  decode(in, advert);
  return in.ok() && in.at_end();
}

bool decodes(BytesView bytes) {
  RegistrationAdvert advert;
  return decodes(bytes, advert);
}

}  // namespace

TEST_CASE("an advert has these bytes, both ways") {
  const RegistrationAdvert advert{300,
                                  {{"*", false, true}, {"a.b", true, false}, {"c", true, true}}};
  Bytes bytes;
  wire::Writer out(bytes);
  encode(out, advert);
  CHECK(to_hex(bytes) ==
        "92"
        "cd012c"
        "96"
        "a12a02"
        "a3612e6201"
        "a16303");
  RegistrationAdvert back;
  REQUIRE(decodes(bytes, back));
  CHECK(back == advert);
}

TEST_CASE("an advert from a newer version is read as far as it is known") {
  RegistrationAdvert advert;
  REQUIRE(
      decodes("\x94\x05\x92\xa1"
              "a\x01\xa3new\x91\x07"s,
              advert));
  CHECK(advert == RegistrationAdvert{5, {{"a", true, false}}});
}

TEST_CASE("an advert that breaks its rules is not read") {
  CHECK_FALSE(decodes(""));
  CHECK_FALSE(decodes("\x91\x05"s));
  CHECK_FALSE(
      decodes("\x92\x05\x91\xa1"
              "a"s));  // half a pair
  CHECK_FALSE(
      decodes("\x92\x05\x92\xa1"
              "a\x00"s));  // no flag
  CHECK_FALSE(
      decodes("\x92\x05\x92\xa1"
              "a\x04"s));  // an unknown flag
  CHECK_FALSE(
      decodes("\x92\x05\x94\xa1"
              "b\x01\xa1"
              "a\x01"s));  // out of order
  CHECK_FALSE(
      decodes("\x92\x05\x94\xa1"
              "a\x01\xa1"
              "a\x02"s));                                                       // twice
  CHECK_FALSE(decodes("\x92\x05\xdd\x00\x06\x1a\x82"s + Bytes(1000, '\x01')));  // more than may be
  CHECK_FALSE(decodes("\x92\x05\x92\xda\x04\x01"s + Bytes(1025, 'x') + "\x01"));
}

TEST_CASE("ids of events differ by publisher, by its life and by number, and agree otherwise") {
  const auto node = NodeId::from_halves(1, 2);
  const auto id = event_id(node, 10, 7);
  CHECK(id == event_id(node, 10, 7));
  CHECK(id != event_id(node, 10, 8));
  CHECK(id != event_id(node, 11, 7));
  CHECK(id != event_id(NodeId::from_halves(2, 1), 10, 7));
  CHECK(id != event_id(NodeId::from_halves(1, 3), 10, 7));
}
