#include "core/value/value_codec.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/base/random.h"

using namespace headrace;
using namespace std::string_literals;

namespace {

Value nested_arrays(std::size_t depth) {
  Value value = Value::Array{};
  for (std::size_t i = 1; i < depth; ++i) value = Value::Array{std::move(value)};
  return value;
}

Value random_value(Random& random, int depth) {
  switch (random.below(depth > 0 ? 11 : 9)) {
    case 0: return {};
    case 1: return random.chance(0.5);
    case 2: return static_cast<std::int64_t>(random.next() >> random.below(64));
    case 3: return random.between(std::numeric_limits<std::int64_t>::min(), -1);
    case 4: return random.next() | 1ULL << 63;
    case 5: return (random.unit() - 0.5) * 1e10;
    case 6: return std::string(random.below(300), static_cast<char>('a' + random.below(26)));
    case 7: return Blob{Bytes(random.below(300), static_cast<char>(random.below(256)))};
    case 8: {
      if (random.chance(0.5))
        return Ext{static_cast<std::int8_t>(random.below(128)), Bytes(random.below(40), 'e')};
      return WallTime{Micros{random.between(-1'000'000'000'000'000, 20'000'000'000'000'000)}};
    }
    case 9: {
      Value::Array array;
      for (auto n = random.below(20); n > 0; --n) array.push_back(random_value(random, depth - 1));
      return array;
    }
    default: {
      ParamSet map;
      for (auto n = random.below(20); n > 0; --n) {
        map.set("n" + std::to_string(random.below(1000)), random_value(random, depth - 1));
      }
      return map;
    }
  }
}

Error error_of(BytesView bytes) {
  const auto value = decode_value(bytes);
  REQUIRE_FALSE(value);
  CHECK(value.error().code == Code::kProtocol);
  return value.error();
}

}  // namespace

// Expected bytes are written out from the msgpack specification.
TEST_CASE("each type has the bytes of the msgpack specification, both ways") {
  const auto max64 = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::pair<Value, std::string>> vectors{
      {Value(), "c0"},
      {false, "c2"},
      {true, "c3"},
      {0, "00"},
      {127, "7f"},
      {128, "cc80"},
      {256, "cd0100"},
      {65536, "ce00010000"},
      {std::int64_t{1} << 32, "cf0000000100000000"},
      {max64, "cf7fffffffffffffff"},
      {std::numeric_limits<std::uint64_t>::max(), "cfffffffffffffffff"},
      {-1, "ff"},
      {-32, "e0"},
      {-33, "d0df"},
      {-129, "d1ff7f"},
      {-32769, "d2ffff7fff"},
      {std::numeric_limits<std::int64_t>::min(), "d38000000000000000"},
      {1.5, "cb3ff8000000000000"},
      {0.0, "cb0000000000000000"},
      {-2.0, "cbc000000000000000"},
      {"", "a0"},
      {"abc", "a3616263"},
      {Blob{""}, "c400"},
      {Blob{"\x00\xff"s}, "c40200ff"},
      {Value::Array{}, "90"},
      {Value::Array{1, "a"}, "9201a161"},
      {ParamSet{}, "80"},
      {ParamSet{{"b", 2}, {"a", 1}}, "82a16101a16202"},
      {Ext{7, "x"}, "d40778"},
      {Ext{-2, "abc"}, "c703fe616263"},
      {WallTime{}, "d6ff00000000"},
      {WallTime{Micros{1'000'000}}, "d6ff00000001"},
      {WallTime{Micros{4'294'967'295'000'000}}, "d6ffffffffff"},
      {WallTime{Micros{4'294'967'296'000'000}}, "d7ff0000000100000000"},
      {WallTime{Micros{1}}, "d7ff00000fa000000000"},
      {WallTime{Micros{-1}}, "c70cff3b9ac618ffffffffffffffff"},
      {WallTime{Micros{17'179'869'184'000'000}}, "c70cff000000000000000400000000"},
  };
  for (const auto& [value, hex] : vectors) {
    CAPTURE(hex);
    const auto bytes = encode(value);
    REQUIRE(bytes);
    CHECK(to_hex(*bytes) == hex);
    CHECK(decode_value(*bytes) == value);
  }
}

TEST_CASE("what other writers produce is understood: float32, wide integers, finer timestamps") {
  CHECK(decode_value("\xca\x3f\xc0\x00\x00"s) == Value(1.5));
  CHECK(decode_value("\xd3\x00\x00\x00\x00\x00\x00\x00\x05"s) == Value(5));
  CHECK(decode_value("\xcf\x00\x00\x00\x00\x00\x00\x00\x05"s) == Value(5));
  CHECK(decode_value("\xdb\x00\x00\x00\x01x"s) == Value("x"));
  // 1,999 ns are 1 whole microsecond.
  CHECK(decode_value("\xc7\x0c\xff\x00\x00\x07\xcf\x00\x00\x00\x00\x00\x00\x00\x00"s) ==
        Value(WallTime{Micros{1}}));
}

TEST_CASE("a set without params takes no bytes and comes back from none") {
  CHECK(encode(ParamSet{}) == ""s);
  CHECK(decode_params("") == ParamSet{});
  CHECK(decode_params("\x80"s) == ParamSet{});
}

TEST_CASE("params come back as they went, and only a map is taken for params") {
  const ParamSet params{{"package", "bash"},
                        {"size", {{"x", 1}, {"y", Value::Array{1, nullptr, 2.5}}}}};
  CHECK(decode_params(*encode(params)) == params);
  CHECK(decode_params("\x90"s).error() ==
        Error{Code::kProtocol, "params: expected map, found array"});
}

TEST_CASE("random values come back as they went") {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto value = random_value(random, 4);
    const auto bytes = encode(value);
    REQUIRE(bytes);
    const auto back = decode_value(*bytes);
    REQUIRE(back);
    REQUIRE(*back == value);
  }
}

TEST_CASE("cut, flipped and random bytes give a value or an error, never worse") {
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    auto bytes = *encode(random_value(random, 3));
    if (bytes.size() > 1) {
      CHECK_FALSE(decode_value(BytesView(bytes).substr(0, random.below(bytes.size()))));
    }
    for (auto flips = 1 + random.below(4); flips > 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    }
    refused += !decode_value(bytes);
  }
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random.below(40), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.next());
    refused += !decode_value(bytes) + !decode_params(bytes);
  }
  CHECK(refused > 10000);
}

TEST_CASE("an error of encoding names the place") {
  const auto message = [](const ParamSet& params) {
    const auto bytes = encode(params);
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().code == Code::kInvalid);
    return bytes.error().message;
  };
  CHECK(message({{"size", {{"x", "\xff"}}}}) ==
        "params.size.x: the text '\\xff' is not UTF-8; send it as bytes");
  CHECK(message({{"list", Value::Array{0, 1, ParamSet{{"t", Ext{-1, "abcd"}}}}}}) ==
        "params.list.2.t: ext type -1 is the timestamp; give a time instead");
  CHECK(message({{"a", {{"\xff", 1}}}}) == "params.a: the name '\\xff' is not UTF-8");
}

TEST_CASE("an error of decoding names the place") {
  CHECK(decode_params("\x81\xa4size\x81\xa1x\xa1\xff"s).error().message ==
        "params.size.x: the text '\\xff' is not UTF-8");
  CHECK(error_of("\x92\x01\xc1"s).message == "value.1: a byte that is no msgpack");
  CHECK(error_of("\x92\x01\xa5"
                 "ab"s)
            .message == "value.1: the bytes end too early");
  CHECK(error_of("\x81\xa1k\x81\x01\x02"s).message == "value.k: a name is int, not text");
  CHECK(error_of("\x81\x90\x02"s).message == "value: a name is not text");
  CHECK(error_of("\x81\xa1k\x82\xa1"
                 "a\x01\xa1"
                 "a\x02"s)
            .message == "value.k: a name stands twice");
  CHECK(error_of("\x91\xc7\x03\xff"
                 "abc"s)
            .message == "value.0: not a timestamp that fits");
  CHECK(error_of("\x01\x02"s).message == "value: 1 bytes too many");
  CHECK(error_of("").message == "value: the bytes end too early");
}

TEST_CASE("a timestamp beyond what microseconds can say is refused") {
  CHECK_FALSE(decode_value("\xc7\x0c\xff\x00\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff"s));
  CHECK_FALSE(decode_value("\xc7\x0c\xff\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00"s));
  CHECK_FALSE(decode_value("\xd7\xff\xff\xff\xff\xff\x00\x00\x00\x00"s));  // 2^30 - 1 nanoseconds
}

TEST_CASE("depth is limited both ways") {
  const auto deepest = encode(nested_arrays(limits::kValueDepth));
  REQUIRE(deepest);
  CHECK(decode_value(*deepest));
  CHECK(encode(nested_arrays(limits::kValueDepth + 1))
            .error()
            .message.ends_with("nested deeper than 32"));
  CHECK(error_of("\x91" + *deepest).message.ends_with("nested deeper than 32"));
  CHECK_FALSE(decode_value(Bytes(1'000'000, '\x91')));
}

TEST_CASE("a name has at most 255 bytes, both ways") {
  const ParamSet longest{{std::string(255, 'n'), 1}};
  CHECK(decode_params(*encode(longest)) == longest);
  CHECK_FALSE(encode(ParamSet{{std::string(256, 'n'), 1}}));
  CHECK_FALSE(decode_params("\x81\xda\x01\x00"s + std::string(256, 'n') + "\x01"));
}

TEST_CASE("a value has at most a mebibyte, both ways") {
  const auto text = [](std::size_t size) { return std::string(size, 'x'); };
  const auto head = std::size_t{5};
  const auto largest = encode(Value(text(limits::kParamsBytes - head)));
  REQUIRE(largest);
  CHECK(largest->size() == limits::kParamsBytes);
  CHECK(decode_value(*largest));
  CHECK_FALSE(encode(Value(text(limits::kParamsBytes - head + 1))));
  CHECK_FALSE(encode(Value::Array{text(600'000), text(600'000)}));
  CHECK_FALSE(decode_value("\xdb\x00\x0f\xff\xfc"s + text(limits::kParamsBytes - head + 1)));
}

TEST_CASE("an array has at most a million elements, both ways") {
  const auto most = encode(Value(Value::Array(limits::kValueElements)));
  REQUIRE(most);
  CHECK((*decode_value(*most)->as_array())->size() == limits::kValueElements);
  CHECK_FALSE(encode(Value(Value::Array(limits::kValueElements + 1))));
  CHECK(error_of("\xdd\x00\x0f\x42\x41"s + Bytes(1'000'001, '\xc0')).message ==
        "value: 1000001 elements, more than 1000000");
}

TEST_CASE("a count that the bytes do not bear out takes no memory") {
  // Each level claims a million elements and sends one: were they reserved, this would take
  // gigabytes.
  Bytes liar;
  for (std::size_t i = 0; i < limits::kValueDepth; ++i) liar += "\xdd\x00\x0f\x42\x40"s;
  CHECK(error_of(liar).message.ends_with("the bytes end too early"));
  CHECK_FALSE(decode_value("\xdf\xff\xff\xff\xff"s));
  CHECK_FALSE(decode_value("\xc6\xff\xff\xff\xff"s));
}
