#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/base/utf8.h"
#include "core/selector/like_pattern.h"
#include "tests/unit/selector/support.h"

using namespace headrace;
using selector::LikePattern;

namespace {

bool like(std::string_view text, std::string_view pattern, std::string_view escape = {}) {
  return LikePattern::compile(pattern, escape).value().matches(text);
}

using Characters = std::vector<char32_t>;

Characters characters(std::string_view text) {
  Characters all;
  while (!text.empty()) all.push_back(take_code_point(text));
  return all;
}

// The definition, a row for each prefix of the pattern.
bool obviously_like(const Characters& text, const Characters& pattern, char32_t escape) {
  std::vector<bool> row(text.size() + 1, false);
  row[0] = true;
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    std::vector<bool> next(text.size() + 1, false);
    const bool literal = pattern[p] == escape;
    if (literal) ++p;
    for (std::size_t t = 0; t <= text.size(); ++t) {
      if (!literal && pattern[p] == '%') {
        next[t] = row[t] || (t > 0 && next[t - 1]);
      } else {
        const bool one = t > 0 && row[t - 1];
        next[t] = one && ((!literal && pattern[p] == '_') || pattern[p] == text[t - 1]);
      }
    }
    row = next;
  }
  return row.back();
}

std::string random_text(Random& random, std::initializer_list<const char*> vocabulary) {
  std::string text;
  for (auto n = random.below(9); n > 0; --n) {
    text += vocabulary.begin()[random.below(vocabulary.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("a percent sign stands for any sequence, none included") {
  CHECK(like("", "%"));
  CHECK(like("abc", "%"));
  CHECK(like("abc", "abc%"));
  CHECK(like("abc", "%abc"));
  CHECK(like("abc", "%%a%%c%%"));
  CHECK(like("xabcx", "%abc%"));
  CHECK_FALSE(like("ab", "%abc%"));
  CHECK_FALSE(like("abcx", "%abc"));
  CHECK_FALSE(like("xabc", "abc%"));
  CHECK_FALSE(like("a", "a%a"));  // its ends do not overlap
  CHECK(like("aa", "a%a"));
  CHECK(like("a\nb", "a%b"));
}

TEST_CASE("an underscore stands for one character, however many bytes it has") {
  CHECK(like("\xC3\xA4", "_"));
  CHECK(like("\xF0\x9F\x98\x80", "_"));
  CHECK_FALSE(like("e\xCC\x81", "_"));  // two code points
  CHECK(like("x\xE6\x97\xA5y", "x_y"));
  CHECK(like("\xE6\x97\xA5\xE6\x9C\xAC", "__"));
  CHECK(like("\xE6\x97\xA5\xE6\x9C\xAC", "%_"));
  CHECK(like("\xE6\x97\xA5\xE6\x9C\xAC", "%\xE6\x9C\xAC"));
  CHECK(like("a\xC3\xA4z", "%__z"));
  CHECK_FALSE(like("\xC3\xA4z", "%__z"));
  CHECK_FALSE(like("", "_"));
  CHECK_FALSE(like("ab", "_"));
}

TEST_CASE("an empty pattern matches the empty text alone") {
  CHECK(like("", ""));
  CHECK_FALSE(like("a", ""));
}

TEST_CASE("an escape makes a wildcard literal, and itself") {
  CHECK(like("100%", "%!%", "!"));
  CHECK_FALSE(like("100", "%!%", "!"));
  CHECK(like("a!b", "a!!b", "!"));
  CHECK(like("_x", "\\__", "\\"));
  CHECK_FALSE(like("yx", "\\__", "\\"));
  CHECK(like("%", "%%", "%"));  // a wildcard may be the escape
  CHECK_FALSE(like("ab", "%%", "%"));
  CHECK(like("a_", "a\xC3\xA4_", "\xC3\xA4"));
}

TEST_CASE("matching agrees with the definition") {
  Random random(11);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto pattern =
        random_text(random, {"a", "b", "\xC3\xA4", "_", "%", "%", "!_", "!%", "!!"});
    const auto text = random_text(random, {"a", "b", "\xC3\xA4", "a", "b", "_", "%", "!"});
    const bool expected = obviously_like(characters(text), characters(pattern), '!');
    CAPTURE(pattern, text);
    REQUIRE(like(text, pattern, "!") == expected);
    hits += expected;
  }
  CHECK(hits > 5'000);
}

TEST_CASE("a pattern made to be slow costs no more than text times pattern") {
  // With as many ways to place its parts as this, trying them all would never end.
  std::string pattern;
  while (pattern.size() + 4 <= limits::kSelectorLikeSteps) pattern += "%a_a";
  const std::string text(10'000, 'a');
  CHECK_FALSE(LikePattern::compile(pattern.substr(2) + "%b", "")->matches(text));
  CHECK(LikePattern::compile(pattern, "")->matches(text));
}

TEST_CASE("bytes that are no UTF-8 are matched without reading past them") {
  for (const auto* text : {"\xFF", "\xC3", "a\xE6\x97", "\x80\x80\x80", "\xF0\x9F\x98"}) {
    const std::string copy = text;
    CAPTURE(to_hex(copy));
    CHECK(like(copy, "%"));
    CHECK_FALSE(like(copy, "%\xC3\xA4%"));
    like(copy, "_%_");
    like(copy, "%_a");
  }
}
