// Each limit: at it, and one past it.
#include "core/base/limits.h"

#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

namespace {

std::string repeat(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string column(std::size_t number) { return "column " + std::to_string(number) + ": "; }

}  // namespace

TEST_CASE("a selector has a length") {
  const std::string before = "a = '";
  const auto text = before + std::string(limits::kSelectorBytes - before.size() - 1, 'x') + "'";
  REQUIRE(text.size() == limits::kSelectorBytes);
  CHECK(parse(text).text() == text);
  CHECK(fault(text + " ") == column(8193) + "it has 8193 bytes, more than 8192");
  CHECK(fault(std::string(limits::kSelectorBytes, ' ')) == "none");
  CHECK(fault(std::string(limits::kSelectorBytes + 1, ' ')) ==
        column(8193) + "it has 8193 bytes, more than 8192");
}

TEST_CASE("the canonical form has the same length") {
  // Two spaces come in.
  const auto with = [](std::size_t bytes) { return "a='" + std::string(bytes - 4, 'x') + "'"; };
  CHECK(parse(with(limits::kSelectorBytes - 2)).text().size() == limits::kSelectorBytes);
  CHECK(fault(with(limits::kSelectorBytes - 1)) ==
        column(1) + "written with spaces it has 8193 bytes, more than 8192");
}

TEST_CASE("parentheses, NOTs and signs nest up to a depth") {
  constexpr auto kDepth = limits::kSelectorDepth;
  const auto nested = [](std::size_t depth) {
    return repeat("(", depth) + "a" + repeat(")", depth);
  };
  CHECK(answer(nested(kDepth), {{"a", true}}) == T);
  CHECK(fault(nested(kDepth + 1)) == column(65) + "nested deeper than 64, found '('");
  const auto inverted = [](std::size_t depth) { return repeat("NOT ", depth) + "a"; };
  CHECK(answer(inverted(kDepth), {{"a", true}}) == T);
  CHECK(fault(inverted(kDepth + 1)) == column(257) + "nested deeper than 64, found 'NOT'");
  const auto negative = [](std::size_t depth) { return "1 = " + repeat("-", depth) + "a"; };
  CHECK(answer(negative(kDepth), {{"a", 1}}) == T);
  CHECK(fault(negative(kDepth + 1)) == column(69) + "nested deeper than 64, found '-'");
  const auto mixed = repeat("NOT (", kDepth / 2) + "a" + repeat(")", kDepth / 2);
  CHECK(answer(mixed, {{"a", true}}) == T);
  CHECK(fault("NOT " + mixed) == column(5 * (kDepth / 2) + 4) + "nested deeper than 64, found '('");
  // What stands side by side is not nested.
  CHECK(answer("(a) AND " + nested(kDepth) + " AND (a)", {{"a", true}}) == T);
}

TEST_CASE("the fullest nesting finds room on the stack of an evaluation") {
  const auto depth = limits::kSelectorDepth;
  const std::string open = "b OR b AND TRUE = (";
  CHECK(answer(repeat(open, depth) + "a" + repeat(")", depth), {{"a", true}, {"b", false}}) == F);
  const std::string sum = "(1 + x) BETWEEN (1 + x) AND 1 + 2 * (";
  const auto text = sum + repeat("1 - x + 2 * (", depth - 2) + "x" + repeat(")", depth - 1);
  CHECK(answer(text, {{"x", 0}}) == T);
}

TEST_CASE("operands and operators are counted") {
  // 1,024 = 256 names and literals and comparisons each, and 255 times OR; TRUE is one more.
  const auto terms = [](std::size_t count) { return "a=1" + repeat(" OR a=1", count - 1); };
  CHECK(answer(terms(256), {{"a", 2}}) == F);
  CHECK(answer("NOT " + terms(256), {{"a", 2}}) == T);
  const auto text = "NOT NOT " + terms(256);
  CHECK(fault(text) ==
        column(text.size()) + "more than 1024 operands and operators, found the number 1");
}

TEST_CASE("a long chain of one operator costs no depth") {
  const std::string sum = "1 = 1" + repeat("+a", 510);
  CHECK(answer(sum, {{"a", 0}}) == T);
  const std::string names = "a" + repeat(" AND a", 500);
  CHECK(answer(names, {{"a", true}}) == T);
}

TEST_CASE("different names are counted") {
  const auto names = [](std::size_t count) {
    std::string text = "a0";
    for (std::size_t i = 1; i < count; ++i) text += " OR a" + std::to_string(i);
    return text;
  };
  const auto text = names(limits::kSelectorNames);
  CHECK(answer(text, {{"a63", true}}) == T);
  CHECK(answer(text + " OR a63", {{"a63", true}}) == T);
  CHECK(fault(names(limits::kSelectorNames + 1)) ==
        column(text.size() + 5) + "more than 64 names, found the name 'a64'");
}

TEST_CASE("a list of IN has a length") {
  const auto in = [](std::size_t count) {
    std::string text = "a IN ('0'";
    for (std::size_t i = 1; i < count; ++i) text += ",'" + std::to_string(i) + "'";
    return text + ")";
  };
  const auto text = in(limits::kSelectorInList);
  CHECK(answer(text, {{"a", "511"}}) == T);
  CHECK(answer(text, {{"a", "512"}}) == F);
  CHECK(fault(in(limits::kSelectorInList + 1)) ==
        column(text.size() + 1) + "more than 512 texts in IN, found the text '512'");
}

TEST_CASE("a pattern of LIKE has a length in characters") {
  const auto pattern = repeat("\xC3\xA4", limits::kSelectorLikeSteps);
  CHECK(answer("a LIKE '" + pattern + "'", {{"a", pattern}}) == T);
  CHECK(fault("a LIKE '" + pattern + "_'")
            .starts_with(column(8) + "the pattern has more than 256 characters, found the text '"));
  // An escaped wildcard is one.
  const auto escaped = repeat("!%", limits::kSelectorLikeSteps);
  CHECK(fault("a LIKE '" + escaped + "' ESCAPE '!'") == "none");
  CHECK(fault("a LIKE '" + escaped + "x' ESCAPE '!'") != "none");
}
