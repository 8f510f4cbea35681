// The canonical form, equality, and the names a selector has.
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("the canonical form has one spelling for one meaning") {
  const std::pair<const char*, const char*> forms[] = {
      {"a=1", "a = 1"},
      {"  a\n=\t1 ", "a = 1"},
      {"not a", "NOT a"},
      {"a = TRUE and B = false", "a = TRUE AND B = FALSE"},
      {"((a) = (1))", "a = 1"},
      {"a = +62", "a = 62"},
      {"a = - 62L", "a = -62"},
      {"a = -(-62)", "a = 62"},
      {"a = 007", "a = 7"},
      {"a = 7.", "a = 7.0"},
      {"a = 57F", "a = 57.0"},
      {"a = .50", "a = 0.5"},
      {"a = 'it''s'", "a = 'it''s'"},
      {"a in('b','a','b')", "a IN ('a', 'b')"},
      {"a not in ('b')", "a NOT IN ('b')"},
      {"NOT a IN ('b')", "a NOT IN ('b')"},
      {"NOT a NOT IN ('b')", "a IN ('b')"},
      {"NOT (a BETWEEN 1 AND 2)", "a NOT BETWEEN 1 AND 2"},
      {"not a is null", "a IS NOT NULL"},
      {"a like '!_%' escape '!'", "a LIKE '!_%' ESCAPE '!'"},
      {"(a OR b) OR c", "a OR b OR c"},
      {"a OR (b OR c)", "a OR (b OR c)"},
      {"(a AND b) OR c", "a AND b OR c"},
      {"(a OR b) AND c", "(a OR b) AND c"},
      {"NOT (a AND b)", "NOT (a AND b)"},
      {"NOT (a = 1)", "NOT a = 1"},
      {"(NOT a) = b", "(NOT a) = b"},
      {"(a = b) = c", "a = b = c"},
      {"a = (b = c)", "a = (b = c)"},
      {"(a+b)+c=(a*b)/c", "a + b + c = a * b / c"},
      {"a+(b-c)=a*(b/c)", "a + (b - c) = a * (b / c)"},
      {"(a+b)*-c=-(a+b)", "(a + b) * -c = -(a + b)"},
      {"a - -5 = - - b", "a - -5 = --b"},
      {"+a = 1", "+a = 1"},
      {"(a) IS NULL", "a IS NULL"},
      {"x BETWEEN 1+1 AND (2+2)", "x BETWEEN 1 + 1 AND 2 + 2"},
      {"p.q.0 = 1", "p.q.0 = 1"},
      {"((a)=+7.) and s in ('y','x')", "a = 7.0 AND s IN ('x', 'y')"},
      {"  ", ""},
  };
  for (const auto& [text, canonical] : forms) {
    CAPTURE(text);
    CHECK(parse(text).text() == canonical);
    CHECK(parse(canonical).text() == canonical);
    CHECK(parse(text) == parse(canonical));
  }
}

TEST_CASE("selectors are equal when their canonical forms are") {
  CHECK(parse("a = 1") == parse("((a))=1"));
  CHECK_FALSE(parse("a = 1") == parse("a = 1.0"));
  CHECK_FALSE(parse("a = 1") == parse("A = 1"));
  CHECK(Selector() == parse(""));
  CHECK(Selector().selects_all());
  CHECK_FALSE(parse("TRUE").selects_all());
  const auto copy = parse("a = 1");
  CHECK(Selector(copy) == copy);
}

TEST_CASE("the names of a selector stand by first appearance, each once, as written") {
  CHECK(parse("b = 1 AND (a.x > b OR $size < 5) AND a.y IS NULL AND $size > 1").names() ==
        std::vector<std::string>{"b", "a.x", "$size", "a.y"});
  CHECK(parse("1 = 1").names().empty());
  CHECK(Selector().names().empty());
}
