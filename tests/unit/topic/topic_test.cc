#include "core/topic/topic.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;
using namespace std::string_literals;

namespace {

std::string words(std::size_t count, const std::string& word = "w") {
  std::string text = word;
  for (std::size_t i = 1; i < count; ++i) text += "." + word;
  return text;
}

// 1,024 bytes in five words.
const std::string kLongest = words(4, std::string(204, 'x')) + "." + std::string(204, 'y');

}  // namespace

TEST_CASE("names within the rules are topics") {
  REQUIRE(kLongest.size() == 1024);
  for (const auto& text :
       {"a"s, "a.b.c"s, "weather.northamerica.us"s, "$sys.member.joined"s, "$sys"s, "$system.x"s,
        "A-b_c/d:e@f#g"s, "\xF0\x9F\x98\x80.smile"s, "\xC3\xA4.\xE6\x97\xA5\xE6\x9C\xAC"s, "a<b"s,
        "~!\"'()"s, "e\xCC\x81"s, "\xE2\x80\x8D"s, std::string(255, 'w'), words(128), kLongest}) {
    CAPTURE(text);
    const auto topic = Topic::parse(text);
    REQUIRE(topic);
    CHECK(topic->text() == text);
  }
}

TEST_CASE("names outside the rules are refused, with the value and the rule") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "it is empty"},
      {".", "a word is empty"},
      {".a", "a word is empty"},
      {"a.", "a word is empty"},
      {"a..b", "a word is empty"},
      {"a b", "white space is not allowed"},
      {" ", "white space is not allowed"},
      {"a.b\n", "white space is not allowed"},
      {"a\tb", "white space is not allowed"},
      {"a\xC2\xA0"
       "b",
       "white space is not allowed"},                    // no-break space
      {"\xC2\x85", "white space is not allowed"},        // next line
      {"\xE1\x9A\x80", "white space is not allowed"},    // ogham space
      {"\xE2\x80\x80", "white space is not allowed"},    // en quad
      {"\xE2\x80\x8A", "white space is not allowed"},    // hair space
      {"\xE2\x80\xA8", "white space is not allowed"},    // line separator
      {"\xE2\x80\xAF", "white space is not allowed"},    // narrow no-break space
      {"\xE2\x81\x9F", "white space is not allowed"},    // mathematical space
      {"a.\xE3\x80\x80", "white space is not allowed"},  // ideographic space
      {"a\x01", "control characters are not allowed"},
      {"a\0b"s, "control characters are not allowed"},
      {"\x1f", "control characters are not allowed"},
      {"\x7f", "control characters are not allowed"},
      {"\xC2\x80", "control characters are not allowed"},
      {"\xC2\x9F", "control characters are not allowed"},
      {"\xff", "it is not UTF-8"},
      {"a.\xC3", "it is not UTF-8"},
      {"a.\xC3.b", "it is not UTF-8"},
      {"\xED\xA0\x80", "it is not UTF-8"},
      {"\xC0\xAE", "it is not UTF-8"},  // an overlong dot
      {"*", "wildcards stand for many topics and cannot be one"},
      {"a.*", "wildcards stand for many topics and cannot be one"},
      {"a.*.b", "wildcards stand for many topics and cannot be one"},
      {"a.>", "wildcards stand for many topics and cannot be one"},
      {">", "wildcards stand for many topics and cannot be one"},
      {"a*", "'*' and '>' are not part of a word"},
      {"a.b>c", "'*' and '>' are not part of a word"},
      {std::string(256, 'w'), "a word has more than 255 bytes"},
      {words(129), "it has more than 128 words"},
      {kLongest + "z", "it has more than 1024 bytes"},
  };
  for (const auto& [text, rule] : cases) {
    CAPTURE(text);
    const auto topic = Topic::parse(text);
    REQUIRE_FALSE(topic);
    CHECK(topic.error().code == Code::kInvalid);
    CHECK(topic.error().message.ends_with(" is invalid: " + rule));
    CHECK(topic.error().message.size() < 200);
    CHECK_FALSE(Topic::check(text));
  }
  CHECK(Topic::parse("a b").error().message ==
        "topic 'a b' is invalid: white space is not allowed");
}

TEST_CASE("the system's topics are those that begin with the word $sys") {
  for (const auto* text : {"$sys", "$sys.member", "$sys.a.b"})
    CHECK(Topic::parse(text)->is_system());
  for (const auto* text : {"$sysx", "$sysx.a", "a.$sys", "$SYS.a", "$sy", "sys"}) {
    CHECK_FALSE(Topic::parse(text)->is_system());
  }
}

TEST_CASE("the words of a topic come one by one") {
  std::vector<std::string> seen;
  for (Words walk("a.bc.d"); walk.more();) seen.emplace_back(walk.next());
  CHECK(seen == std::vector<std::string>{"a", "bc", "d"});
}
