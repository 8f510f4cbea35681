// Which types go with which, and numbers at their edges.
#include <cmath>
#include <limits>

#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

namespace {

constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
constexpr auto kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kNan = std::numeric_limits<double>::quiet_NaN();

constexpr const char* kComparisons[] = {"=", "<>", "<", "<=", ">", ">="};

// What each of kComparisons must say.
void check_order(const Value& a, const Value& b, std::array<Truth, 6> expected) {
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(kComparisons[i], to_hex(encode(a).value()), to_hex(encode(b).value()));
    CHECK(answer(std::string("a ") + kComparisons[i] + " b", {{"a", a}, {"b", b}}) == expected[i]);
  }
}
constexpr std::array<Truth, 6> kEqual{T, F, F, T, F, T};
constexpr std::array<Truth, 6> kLess{F, T, T, T, F, F};
constexpr std::array<Truth, 6> kGreater{F, T, F, F, T, T};
constexpr std::array<Truth, 6> kOnlyEqual{T, F, F, F, F, F};
constexpr std::array<Truth, 6> kOnlyUnequal{F, T, F, F, F, F};
constexpr std::array<Truth, 6> kNone{F, F, F, F, F, F};

}  // namespace

TEST_CASE("numbers have an order; texts and booleans are equal or not") {
  check_order(1, 1, kEqual);
  check_order(-1, 1, kLess);
  check_order(2.5, -2.5, kGreater);
  check_order("a", "a", kOnlyEqual);
  check_order("a", "b", kOnlyUnequal);
  check_order("a", "A", kOnlyUnequal);
  check_order("e\xCC\x81", "\xC3\xA9", kOnlyUnequal);  // no normalisation
  check_order("a", std::string("a\0", 2), kOnlyUnequal);
  check_order(true, true, kOnlyEqual);
  check_order(true, false, kOnlyUnequal);
}

TEST_CASE("a comparison of different types is false, whichever it is") {
  const std::vector<Value> of_types{
      3, "3", true, Blob{"3"}, Value::Array{3}, ParamSet{{"a", 3}}, Ext{5, "3"}};
  for (const auto& a : of_types) {
    for (const auto& b : of_types) {
      if (a.type() != b.type()) check_order(a, b, kNone);
    }
  }
  CHECK(answer("'3' = 3") == F);
  CHECK(answer("'3' <> 3") == F);
  CHECK(answer("TRUE <> 'TRUE'") == F);
  CHECK(answer("NOT n = '3'", {{"n", 3}}) == T);
}

TEST_CASE("bytes, arrays, maps and extensions are comparable with nothing, not even themselves") {
  for (const auto& value : std::vector<Value>{Blob{"3"}, Value::Array{3}, ParamSet{{"a", 3}},
                                              Ext{5, "3"}, Ext{5, Bytes(100, 'x')}}) {
    check_order(value, value, kNone);
    const ParamSet params{{"a", value}};
    CHECK(answer("a IS NULL", params) == F);
    CHECK(answer("a IN ('3')", params) == F);
    CHECK(answer("a LIKE '%'", params) == F);
    CHECK(answer("a", params) == F);
    CHECK(answer("a + 1 = 4", params) == U);
  }
}

TEST_CASE("what is no text is in no list and like no pattern, what is no number in no range") {
  const ParamSet params{{"n", 3}, {"s", "3"}, {"b", true}};
  CHECK(answer("n IN ('3')", params) == F);
  CHECK(answer("n NOT IN ('3')", params) == T);
  CHECK(answer("b LIKE '%'", params) == F);
  CHECK(answer("b NOT LIKE '%'", params) == T);
  CHECK(answer("s BETWEEN 1 AND 5", params) == F);
  CHECK(answer("s NOT BETWEEN 1 AND 5", params) == T);
}

TEST_CASE("a parameter as a condition is true only if it is the boolean") {
  CHECK(answer("a", {{"a", 1}}) == F);
  CHECK(answer("a", {{"a", "TRUE"}}) == F);
  CHECK(answer("NOT a", {{"a", 1}}) == T);
}

TEST_CASE("arithmetic on what is no number is unknown") {
  for (const auto& value : std::vector<Value>{"3", true, Blob{"3"}}) {
    const ParamSet params{{"a", value}};
    for (const auto* text : {"a + 1 = 4", "1 + a = 4", "a - 1 = 2", "a * 1 = 3", "a / 1 = 3",
                             "-a = -3", "+a = 3", "a + 1 <> 4"}) {
      CAPTURE(text);
      CHECK(answer(text, params) == U);
    }
  }
}

TEST_CASE("exact numbers are never taken through a double") {
  check_order(9007199254740993, 9007199254740992, kGreater);
  check_order(9007199254740993, 9007199254740992.0, kGreater);
  check_order(9007199254740992.0, 9007199254740993, kLess);
  check_order(9007199254740992, 9007199254740992.0, kEqual);
  check_order(kMax, 9223372036854775808.0, kLess);
  check_order(9223372036854775808u, 9223372036854775808.0, kEqual);
  check_order(kMin, -9223372036854775808.0, kEqual);
  check_order(kMin, -9223372036854777856.0, kGreater);  // the next double below
  check_order(kLargest, 18446744073709551616.0, kLess);
  check_order(kLargest, kMax, kGreater);
  check_order(-1, kLargest, kLess);
  check_order(1, 1.5, kLess);
  check_order(-1, -1.5, kGreater);
  check_order(0, -0.0, kEqual);
  check_order(0, 5e-324, kLess);
  check_order(kLargest, kInfinity, kLess);
  check_order(kMin, -kInfinity, kGreater);
}

TEST_CASE("NaN has no order and differs from every number") {
  check_order(kNan, kNan, kOnlyUnequal);
  check_order(kNan, 1, kOnlyUnequal);
  check_order(1.0, kNan, kOnlyUnequal);
  CHECK(answer("a BETWEEN 1 AND 2", {{"a", kNan}}) == F);
}

TEST_CASE("a float32 on the wire is the number that it stands for") {
  SelectorInput input;
  input.params = std::string_view(
      "\x81\xa1"
      "a\xca\x3f\x00\x00\x00",
      8);
  CHECK(parse("a = 0.5").matches(input) == T);
}

TEST_CASE("arithmetic is exact for exact numbers, and approximate with a double among them") {
  for (const auto* text :
       {"7 / 2 = 3", "-7 / 2 = -3", "7 / -2 = -3", "7 / 2.0 = 3.5", "7.0 / 2 = 3.5",
        "1 + 0.5 = 1.5", "9007199254740992 + 1 = 9007199254740993", "3 * 0.5 = 1.5",
        "0.5 - 1 = -0.5", "9223372036854775807 + 1 = 9223372036854775808",
        "18446744073709551615 - 18446744073709551615 = 0", "0 - 9223372036854775808 < 0",
        "4294967296 * 4294967295 = 18446744069414584320",
        "-9223372036854775808 / -1 = 9223372036854775808", "18446744073709551615 / 2 > 1"}) {
    CAPTURE(text);
    CHECK(answer(text) == T);
  }
  CHECK(answer("-a = 9223372036854775808", {{"a", kMin}}) == T);
  CHECK(answer("-a = -9223372036854775808", {{"a", 9223372036854775808u}}) == T);
}

TEST_CASE("a result that no number holds is unknown") {
  for (const auto* text :
       {"1 / 0 = 1", "0 / 0 = 0", "1.0 / 0 = 1", "1 / 0.0 = 1", "1 / -0.0 = 1", "1 / 0 <> 1",
        "18446744073709551615 + 1 > 0", "-9223372036854775808 - 1 < 0",
        "4294967296 * 4294967296 > 0", "18446744073709551615 * 18446744073709551615 > 0",
        "18446744073709551615 * -1 < 0", "1E308 * 10 > 0", "1E308 + 1E308 > 0",
        "-1E308 - 1E308 < 0"}) {
    CAPTURE(text);
    CHECK(answer(text) == U);
  }
  CHECK(answer("-a < 0", {{"a", kLargest}}) == U);
  CHECK(answer("a + 1 > 0", {{"a", kInfinity}}) == U);
  CHECK(answer("a - a = 0", {{"a", kNan}}) == U);
  CHECK(answer("a > 0", {{"a", kInfinity}}) == T);
}

TEST_CASE("texts and names of every length differ wherever one character does") {
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string text(size, 'x');
    CHECK(answer("s = '" + text + "'", {{"s", text}}) == T);
    CHECK(answer(text + " = 1", {{text, 1}}) == T);
    CHECK(answer("s = '" + text + "'", {{"s", text + "x"}}) == F);
    for (std::size_t at = 0; at < size; ++at) {
      auto other = text;
      other[at] = 'y';
      CAPTURE(size, at);
      CHECK(answer("s = '" + text + "'", {{"s", other}}) == F);
      CHECK(answer(text + " = 1", {{other, 1}}) == U);
    }
  }
}
