// What is refused, where, and why.
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("a selector that ends too early says what is missing") {
  CHECK(fault("a =") == "column 4: expected a value, found the end");
  CHECK(fault("a = ") == "column 5: expected a value, found the end");
  CHECK(fault("NOT") == "column 4: expected a value, found the end");
  CHECK(fault("a AND") == "column 6: expected a value, found the end");
  CHECK(fault("a +") == "column 4: expected a value, found the end");
  CHECK(fault("-") == "column 2: expected a value, found the end");
  CHECK(fault("(") == "column 2: expected a value, found the end");
  CHECK(fault("(a = 1") == "column 7: expected an operator or ')', found the end");
  CHECK(fault("a BETWEEN 1") == "column 12: expected AND, found the end");
  CHECK(fault("a BETWEEN 1 AND") == "column 16: expected a value, found the end");
  CHECK(fault("a IN") == "column 5: expected '(', found the end");
  CHECK(fault("a IN ('x'") == "column 10: expected ',' or ')', found the end");
  CHECK(fault("a LIKE") == "column 7: expected a pattern in quotes, found the end");
  CHECK(fault("a LIKE 'x' ESCAPE") ==
        "column 18: expected an escape character in quotes, found the end");
  CHECK(fault("a IS") == "column 5: expected NULL, found the end");
  CHECK(fault("a NOT") == "column 6: expected BETWEEN, IN or LIKE after NOT, found the end");
}

TEST_CASE("what stands in a wrong place is named with its column") {
  CHECK(fault("= 1") == "column 1: expected a value, found '='");
  CHECK(fault("a ==1") == "column 4: expected a value, found '='");
  CHECK(fault("a = NOT b") == "column 5: expected a value, found 'NOT'");
  CHECK(fault("a = 1 b") == "column 7: expected an operator or the end, found the name 'b'");
  CHECK(fault("a = 1)") == "column 6: expected an operator or the end, found ')'");
  CHECK(fault("(a = 1 b") == "column 8: expected an operator or ')', found the name 'b'");
  CHECK(fault("a IN ()") == "column 7: expected a text in quotes, found ')'");
  CHECK(fault("a IN ('x',)") == "column 11: expected a text in quotes, found ')'");
  CHECK(fault("a IN ('x' 'y')") == "column 11: expected ',' or ')', found the text 'y'");
  CHECK(fault("a IN (1)") == "column 7: expected a text in quotes, found the number 1");
  CHECK(fault("a IN 'x'") == "column 6: expected '(', found the text 'x'");
  CHECK(fault("a LIKE b") == "column 8: expected a pattern in quotes, found the name 'b'");
  CHECK(fault("a LIKE 1") == "column 8: expected a pattern in quotes, found the number 1");
  CHECK(fault("a IS 1") == "column 6: expected NULL, found the number 1");
  CHECK(fault("a NOT NULL") == "column 7: expected BETWEEN, IN or LIKE after NOT, found 'NULL'");
  CHECK(fault("a NOT = 1") == "column 7: expected BETWEEN, IN or LIKE after NOT, found '='");
  CHECK(fault("a BETWEEN 1 OR 2") == "column 13: expected AND, found 'OR'");
  CHECK(fault("AND a") == "column 1: expected a value, found 'AND'");
  CHECK(fault("in = 1") == "column 1: expected a value, found 'in'");
  CHECK(fault("a = NULL") == "column 5: a null equals nothing; ask by IS NULL, found 'NULL'");
  CHECK(fault("'\xC3\xA4' = \xC3\xA4 b") ==
        "column 9: expected an operator or the end, found the name 'b'");
}

TEST_CASE("a type that cannot be right is refused where it stands") {
  CHECK(fault("1 IN ('1')") ==
        "column 1: IN takes the name of a parameter with a text, found the number 1");
  CHECK(fault("a + 1 IN ('1')") ==
        "column 1: IN takes the name of a parameter with a text, found the name 'a'");
  CHECK(fault("'a' LIKE 'a'") ==
        "column 1: LIKE takes the name of a parameter with a text, found the text 'a'");
  CHECK(fault("$size LIKE '1%'") ==
        "column 1: LIKE takes the name of a parameter with a text, found the name '$size'");
  CHECK(fault("1 IS NULL") ==
        "column 1: IS NULL takes the name of a parameter, found the number 1");
  CHECK(fault("'x' BETWEEN 1 AND 2") == "column 1: BETWEEN takes numbers, found the text 'x'");
  CHECK(fault("a BETWEEN 'x' AND 2") == "column 11: BETWEEN takes numbers, found the text 'x'");
  CHECK(fault("a BETWEEN 1 AND TRUE") == "column 17: BETWEEN takes numbers, found 'TRUE'");
  CHECK(fault("1 + 'a' = 2") == "column 5: arithmetic takes numbers, found the text 'a'");
  CHECK(fault("TRUE * 2 = 2") == "column 1: arithmetic takes numbers, found 'TRUE'");
  CHECK(fault("(a = 1) + 2 = 3") == "column 2: arithmetic takes numbers, found the name 'a'");
  CHECK(fault("$topic - 1 = 3") == "column 1: arithmetic takes numbers, found the name '$topic'");
  CHECK(fault("-'a' = 1") == "column 2: a sign takes numbers, found the text 'a'");
  CHECK(fault("a = -TRUE") == "column 6: a sign takes numbers, found 'TRUE'");
  CHECK(fault("1") == "column 1: expected a condition, found the number 1");
  CHECK(fault("'a'") == "column 1: expected a condition, found the text 'a'");
  CHECK(fault("a + b") == "column 1: expected a condition, found the name 'a'");
  CHECK(fault("$size") == "column 1: expected a condition, found the name '$size'");
  CHECK(fault("a OR 1") == "column 6: expected a condition, found the number 1");
  CHECK(fault("1 OR a") == "column 1: expected a condition, found the number 1");
  CHECK(fault("a AND 'x' AND b") == "column 7: expected a condition, found the text 'x'");
  CHECK(fault("NOT 1") == "column 5: expected a condition, found the number 1");
  CHECK(fault("1 < x < 5") ==
        "column 7: a condition has no order (a range is written with BETWEEN), found '<'");
  CHECK(fault("1 >= (x = 5)") ==
        "column 3: a condition has no order (a range is written with BETWEEN), found '>='");
}

TEST_CASE("what is no token is refused where it begins") {
  CHECK(fault("s = 'open") == "column 5: a text has no closing quote, found '\'open'");
  CHECK(fault("s = 'it's'") == "column 9: expected an operator or the end, found the name 's'");
  CHECK(fault("s = \"x\"") == "column 5: a text stands between single quotes, found '\"'");
  CHECK(fault("a != 1") == "column 3: not equal is written <>, found '!'");
  CHECK(fault("a = #") == "column 5: nothing begins with this character, found '#'");
  CHECK(fault("a = 1;") == "column 6: nothing begins with this character, found ';'");
  CHECK(fault("a\xC2\xA0= 1") == "column 2: nothing begins with this character, found '\xC2\xA0'");
  CHECK(fault("s = \xE2\x80\x98x\xE2\x80\x99") ==
        "column 5: nothing begins with this character, found '\xE2\x80\x98'");
  CHECK(fault(std::string("a = \0", 5)) ==
        "column 5: nothing begins with this character, found '\\x00'");
  CHECK(fault("a = '\xFF'") == "column 6: it is not UTF-8, found '\\xff'");
  CHECK(fault("a. = 1") == "column 3: expected a name or a number after the dot, found ' '");
  CHECK(fault("a.") == "column 3: expected a name or a number after the dot, found the end");
  CHECK(fault("a..b = 1") == "column 3: expected a name or a number after the dot, found '.'");
  CHECK(fault("a .b = 1") == "column 3: nothing begins with this character, found '.'");
  CHECK(fault("not.a = 1") == "column 1: a keyword cannot name a parameter, found 'not'");
  for (const auto* name : {"$other", "$", "$Topic", "$topic.x", "$sys"}) {
    CHECK(fault(std::string(name) + " = 1") ==
          "column 1: expected $topic, $node, $time, $size or $id, found the name '" +
              std::string(name) + "'");
  }
}

TEST_CASE("a number that is none, or out of range, is refused") {
  const auto no_number = [](const std::string& text) {
    return fault("a = " + text) == "column 5: this is no number, found '" + text + "'";
  };
  for (const auto* text :
       {"1x", "0x1F", "1E", "1E+", "7.a", "1LL", "5days", "1.5L", "1e5L", "1$"}) {
    CAPTURE(text, fault("a = " + std::string(text)));
    // A sign is no part of a word: what is shown may end before it.
    CHECK((no_number(text) || std::string(text).back() == '+'));
  }
  CHECK(fault("a = 1E+") == "column 5: this is no number, found '1E'");
  CHECK(fault("a = 1.2.3") == "column 5: this is no number, found '1.2.'");
  CHECK(fault("a = 99999999999999999999") ==
        "column 5: the number is out of the range of 64 bits, found '99999999999999999999'");
  CHECK(fault("a = 18446744073709551616") ==
        "column 5: the number is out of the range of 64 bits, found '18446744073709551616'");
  CHECK(fault("a = -9223372036854775809") ==
        "column 6: with its sign the number is out of the range of 64 bits, found the number "
        "9223372036854775809");
  CHECK(fault("a = 1E309") ==
        "column 5: the number is out of the range of a double, found '1E309'");
  CHECK(fault("a = 1E-400") ==
        "column 5: the number is out of the range of a double, found '1E-400'");
}

TEST_CASE("an escape is one character, and what it escapes needs it") {
  CHECK(fault("a LIKE 'x' ESCAPE 'ab'") ==
        "column 19: an escape is one character, found the text 'ab'");
  CHECK(fault("a LIKE 'x' ESCAPE ''") ==
        "column 19: an escape is one character, found the text ''");
  CHECK(fault("a LIKE 'x!y' ESCAPE '!'") ==
        "column 8: in the pattern only '_', '%' or '!' may follow the escape '!', found the text "
        "'x!y'");
  CHECK(fault("a LIKE 'x!' ESCAPE '!'") ==
        "column 8: in the pattern only '_', '%' or '!' may follow the escape '!', found the text "
        "'x!'");
  CHECK(fault("a LIKE 'x' ESCAPE '\xC3\xA4'") == "none");
}

TEST_CASE("the message names the selector, cut to a length that can be shown") {
  const auto error = Selector::parse("a =").error();
  CHECK(error.message == "selector 'a =' is invalid at column 4: expected a value, found the end");
  const auto of_long = Selector::parse(std::string(1000, ' ') + "a = 'x" + std::string(1000, 'y'));
  CHECK(of_long.error().message.size() < 300);
}
