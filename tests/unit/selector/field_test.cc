// The fields of an event, and parameters as they arrive.
#include "core/base/random.h"

#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

namespace {

SelectorInput event() {
  SelectorInput input;
  input.topic = "weather.us";
  input.node = "web1";
  input.time = WallTime{Micros{1'700'000'000'000'001}};
  input.size = 4096;
  input.id = EventId::from_halves(0x0123456789abcdef, 0xfedcba9876543210);
  return input;
}

}  // namespace

TEST_CASE("the fields of an event are values like parameters") {
  const auto input = event();
  for (const auto* text :
       {"$topic = 'weather.us'", "$topic LIKE 'weather.%'", "$topic IN ('a', 'weather.us')",
        "$node = 'web1'", "$time = 1700000000000001", "$time / 1000000 = 1700000000",
        "$size BETWEEN 4096 AND 4096", "$id = '0123456789abcdeffedcba9876543210'",
        "$id LIKE '0123%3210'", "$topic IS NOT NULL", "$size > 1 AND $time > 1 AND $id <> $node"}) {
    CAPTURE(text);
    CHECK(parse(text).matches(input) == T);
    CHECK(parse(text).selects(input));
  }
  CHECK(parse("$size > 4096").matches(input) == F);
  CHECK_FALSE(parse("absent = 1").selects(input));
}

TEST_CASE("a timestamp is a number of microseconds") {
  const auto at = WallTime{Micros{1'700'000'000'000'001}};
  const auto before = WallTime{Micros{-5}};
  CHECK(answer("at = 1700000000000001", {{"at", at}}) == T);
  CHECK(answer("at = -5", {{"at", before}}) == T);
  CHECK(answer("at + 5 = 0", {{"at", before}}) == T);
}

TEST_CASE("parameters of every encoding are found, wherever they stand") {
  ParamSet params;
  for (int i = 0; i < 40; ++i) params.set("n" + std::to_string(i), i);
  params.set("long", std::string(70'000, 'x'))
      .set("longer", std::string(300, 'y'))
      .set("large", 1ULL << 63)
      .set("small", -70'000)
      .set("smaller", -3'000'000'000)
      .set("bytes", Blob{Bytes(70'000, 'z')})
      .set("list", Value::Array(20, Value(1)))
      .set("zlast", "end");
  CHECK(answer("n0 = 0 AND n39 = 39 AND zlast = 'end' AND n17 = 17", params) == T);
  CHECK(answer("zlast = 'end' AND n0 = 0", params) == T);
  CHECK(answer("long LIKE 'x%x' AND longer LIKE '%yyy'", params) == T);
  CHECK(answer("large = 9223372036854775808 AND small = -70000", params) == T);
  CHECK(answer("smaller = -3000000000 AND bytes IS NOT NULL AND list.19 = 1", params) == T);
}

TEST_CASE("what follows a fault in the parameters is absent, and what precedes it counts") {
  const auto whole = encode(ParamSet{{"a", 1}, {"b", "text"}, {"c", 3}}).value();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole, 0, size);  // a buffer of its own, so that a sanitizer sees its end
    SelectorInput input;
    input.params = cut;
    CAPTURE(size);
    CHECK(parse("c IS NULL").matches(input) == T);
    CHECK(parse("a = 1 OR a IS NULL").matches(input) == T);
  }
  SelectorInput input;
  input.params = "\x93\x01\x02\x03";  // no map
  CHECK(parse("a IS NULL").matches(input) == T);
}

TEST_CASE("whatever the parameters hold, an evaluation ends with an answer") {
  Random random(17);
  const auto selector = parse("a.b.1 > 1 OR c LIKE '%x_' AND t = 1 OR z IN ('q') OR a.0 = -d");
  const auto sample = encode(ParamSet{{"a", {{"b", Value::Array{1, 2}}}},
                                      {"c", "xy"},
                                      {"d", 2.5},
                                      {"t", WallTime{Micros{1}}},
                                      {"z", Blob{"q"}}})
                          .value();
  CHECK(parse("a.b.1 > 1 AND c LIKE '%x_' AND t = 1").matches({sample, {}, {}, {}, 0, {}}) == T);
  std::array<int, 3> seen{};
  for (int i = 0; i < 20'000; ++i) {
    auto bytes = sample;
    for (auto n = 1 + random.below(4); n > 0; --n) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    const Bytes exact(bytes, 0, random.below(bytes.size() + 1));
    SelectorInput input;
    input.params = exact;
    ++seen[static_cast<std::size_t>(selector.matches(input))];
  }
  CHECK(seen[static_cast<std::size_t>(T)] > 0);
  CHECK(seen[static_cast<std::size_t>(U)] > 0);
}
