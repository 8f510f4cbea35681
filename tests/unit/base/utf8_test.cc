#include "core/base/utf8.h"

#include <catch2/catch.hpp>

using namespace headrace;
using namespace std::string_literals;

TEST_CASE("UTF-8 of every length passes, at the ends of its range") {
  for (const auto* text : {"", "a", "\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                           "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF",
                           "plain ASCII of some length", "mixed \xC3\xA4\xF0\x9F\x98\x80 text"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
  }
  CHECK(is_utf8("\0"s));
}

TEST_CASE("what is not UTF-8 is refused wherever it stands") {
  for (const auto* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xE2\x82",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xF0\x9F\x98", "\xFF", "\xFE"}) {
    for (std::size_t before = 0; before < 10; ++before) {
      const auto text = std::string(before, 'x') + bad;
      CAPTURE(before, text);
      CHECK_FALSE(is_utf8(text));
      CHECK_FALSE(is_utf8(text + "yyyyyyyy"));
    }
  }
}

TEST_CASE("a code point comes out as its number and is taken off") {
  std::string_view text =
      "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xFF"
      "b";
  CHECK(take_code_point(text) == U'a');
  CHECK(take_code_point(text) == 0xE4);
  CHECK(take_code_point(text) == 0x20AC);
  CHECK(take_code_point(text) == 0x1F600);
  CHECK(take_code_point(text) == kBadUtf8);
  CHECK(text == "b");
}

TEST_CASE("a shown text is printable whatever it holds") {
  CHECK(shown("plain") == "'plain'");
  CHECK(shown("\xC3\xA4") == "'\xC3\xA4'");
  CHECK(shown("a\nb\x7f\xC2\x85\xFF"s + "\0"s) == "'a\\x0ab\\x7f\\xc2\\x85\\xff\\x00'");
  const auto cut = shown(std::string(5000, 'x'));
  CHECK(cut.size() < 100);
  CHECK(cut.ends_with("...'"));
}
