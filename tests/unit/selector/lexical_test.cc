// Names, literals, keywords and white space.
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("keywords are not case-sensitive, names are") {
  const ParamSet params{{"a", 1}, {"A", 2}, {"s", "x"}};
  CHECK(answer("a = 1 and A = 2 AND s like 'x' aNd nOt s In ('y') And z iS nUlL", params) == T);
  CHECK(answer("a between 1 and 1 Or fAlSe", params) == T);
  CHECK(answer("s LIKE 'x' escape '!' and true", params) == T);
  CHECK(answer("A = 1", params) == F);
  CHECK(answer("s = 'X'", params) == F);
}

TEST_CASE("a name begins with a letter or _ and goes on with letters, digits, _ and $") {
  for (const auto* name : {"a", "_", "a1", "a$b", "_1",
                           "Gr\xC3\xB6\xC3\x9F"
                           "e",
                           "\xE6\x97\xA5\xE6\x9C\xAC", "NOTE", "not_", "ORDER", "INN", "isnull",
                           "ANDa", "TRUEish", "escape1", "betweenx"}) {
    CAPTURE(name);
    CHECK(answer(std::string(name) + " = 1", {{name, 1}}) == T);
  }
}

TEST_CASE("a path leads through maps by name and through arrays by number") {
  const ParamSet params{{"position", {{"lat", 50.5}, {"in", 1}, {"0", "zero"}}},
                        {"tags", Value::Array{"x", ParamSet{{"k", 7}}, Value::Array{1, 2}}}};
  CHECK(answer("position.lat > 50", params) == T);
  CHECK(answer("position.in = 1", params) == T);  // no keyword behind a dot
  CHECK(answer("position.0 = 'zero'", params) == T);
  CHECK(answer("tags.0 = 'x'", params) == T);
  CHECK(answer("tags.00 = 'x'", params) == T);
  CHECK(answer("tags.1.k = 7", params) == T);
  CHECK(answer("tags.2.1 = 2", params) == T);
  for (const auto* absent : {"position.lon", "position.lat.x", "tags.3", "tags.k", "tags.1.0",
                             "tags.18446744073709551616", "none.x", "tags.2.2"}) {
    CAPTURE(absent);
    CHECK(answer(std::string(absent) + " IS NULL", params) == T);
  }
  CHECK(answer("a = 1", {{"a.b", 1}, {"a", 1}}) == T);
}

TEST_CASE("numbers are exact or approximate by how they are written") {
  for (const auto* text : {"57 = 57",
                           "-957 < 0",
                           "+62 = 62",
                           "57L = 57",
                           "57l = 57",
                           "7E3 = 7000",
                           "7e3 = 7000",
                           "-57.9E2 = -5790",
                           "7. = 7",
                           "-95.7 < -95",
                           "+6.2 > 6",
                           "1.5F = 1.5",
                           "1.5d = 1.5",
                           "57F = 57",
                           ".5 = 0.5",
                           "7.E1 = 70",
                           "1E+2 = 100",
                           "1E-2 = 0.01",
                           "007 = 7",
                           "-9223372036854775808 < -9223372036854775807",
                           "18446744073709551615 > 0",
                           "7 / 2D = 3.5",
                           "7 / 2L = 3",
                           "7E0 / 2 = 3.5"}) {
    CAPTURE(text);
    CHECK(answer(text) == T);
  }
}

TEST_CASE("a text holds anything between single quotes, and a quote doubled") {
  CHECK(answer("s = ''", {{"s", ""}}) == T);
  CHECK(answer("s = ''''", {{"s", "'"}}) == T);
  CHECK(answer("s = 'a''''b'", {{"s", "a''b"}}) == T);
  CHECK(answer("s = 'AND \"x\"\n\\'", {{"s", "AND \"x\"\n\\"}}) == T);
  CHECK(answer("s = '\xF0\x9F\x98\x80'", {{"s", "\xF0\x9F\x98\x80"}}) == T);
}

TEST_CASE("white space is space, tab, form feed and line ends, and needed only between words") {
  const ParamSet params{{"a", 2}, {"s", "x"}};
  CHECK(answer("\ta\n=\r\n2\fAND s='x' ", params) == T);
  CHECK(answer("(a)=(2)AND(s)='x'OR(a<3)AND NOT(a>3)", params) == T);
}
