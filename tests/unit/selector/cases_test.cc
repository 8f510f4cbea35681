// The examples of the JMS specification and of its restatement, one by one.
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

namespace {

struct Case {
  const char* text;
  ParamSet params;
  Truth expected;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [text, params, expected] : cases) {
    CAPTURE(text, to_hex(encode(params).value()));
    CHECK(answer(text, params) == expected);
  }
}

}  // namespace

TEST_CASE("a range takes in both its ends, and NOT turns it around") {
  check({
      {"age BETWEEN 15 AND 19", {{"age", 15}}, T},
      {"age BETWEEN 15 AND 19", {{"age", 19}}, T},
      {"age BETWEEN 15 AND 19", {{"age", 14}}, F},
      {"age BETWEEN 15 AND 19", {{"age", 20}}, F},
      {"age BETWEEN 15 AND 19", {}, U},
      {"age NOT BETWEEN 15 AND 19", {{"age", 20}}, T},
      {"age NOT BETWEEN 15 AND 19", {{"age", 15}}, F},
      {"age NOT BETWEEN 15 AND 19", {}, U},
      {"15 BETWEEN low AND high", {{"low", 10}, {"high", 20}}, T},
      // Already outside at one end, whatever the other is.
      {"5 BETWEEN low AND high", {{"low", 10}}, F},
      {"5 NOT BETWEEN low AND high", {{"low", 10}}, T},
      {"15 BETWEEN low AND high", {{"low", 10}}, U},
      {"a + 1 BETWEEN 2 * 3 AND 10 - 1", {{"a", 5}}, T},
      {"a BETWEEN 1 AND 2 AND b = 1", {{"a", 1}, {"b", 1}}, T},
  });
}

TEST_CASE("IN compares a text with each of a list") {
  check({
      {"Country IN ('UK', 'US', 'France')", {{"Country", "UK"}}, T},
      {"Country IN ('UK', 'US', 'France')", {{"Country", "France"}}, T},
      {"Country IN ('UK', 'US', 'France')", {{"Country", "Peru"}}, F},
      {"Country IN ('UK', 'US', 'France')", {{"Country", "uk"}}, F},
      {"Country IN ('UK', 'US', 'France')", {}, U},
      {"Country NOT IN ('UK', 'US', 'France')", {{"Country", "UK"}}, F},
      {"Country NOT IN ('UK', 'US', 'France')", {{"Country", "Peru"}}, T},
      {"Country NOT IN ('UK')", {}, U},
      {"Country IN ('')", {{"Country", ""}}, T},
      {"Country IN (' UK', 'it''s')", {{"Country", "it's"}}, T},
  });
}

TEST_CASE("LIKE matches a text with a pattern") {
  check({
      {"phone LIKE '12%3'", {{"phone", "123"}}, T},
      {"phone LIKE '12%3'", {{"phone", "12993"}}, T},
      {"phone LIKE '12%3'", {{"phone", "1234"}}, F},
      {"word LIKE 'l_se'", {{"word", "lose"}}, T},
      {"word LIKE 'l_se'", {{"word", "loose"}}, F},
      {R"(underscored LIKE '\_%' ESCAPE '\')", {{"underscored", "_foo"}}, T},
      {R"(underscored LIKE '\_%' ESCAPE '\')", {{"underscored", "bar"}}, F},
      {"phone NOT LIKE '12%3'", {{"phone", "123"}}, F},
      {"phone NOT LIKE '12%3'", {{"phone", "12993"}}, F},
      {"phone NOT LIKE '12%3'", {{"phone", "1234"}}, T},
      {"phone NOT LIKE '12%3'", {}, U},
      {"phone LIKE '12%3'", {}, U},
  });
}

TEST_CASE("IS NULL is never unknown; null is what is absent or nil") {
  check({
      {"prop IS NULL", {}, T},
      {"prop IS NULL", {{"prop", nullptr}}, T},
      {"prop IS NULL", {{"prop", 0}}, F},
      {"prop IS NULL", {{"prop", ""}}, F},
      {"prop IS NULL", {{"prop", false}}, F},
      {"prop IS NULL", {{"prop", Value::Array{}}}, F},
      {"prop IS NOT NULL", {}, F},
      {"prop IS NOT NULL", {{"prop", 1}}, T},
      {"a.b IS NULL", {{"a", 1}}, T},
      {"a.b IS NULL", {{"a", {{"b", nullptr}}}}, T},
      {"(prop) IS NULL", {}, T},
  });
}

TEST_CASE("an unknown side decides nothing, a known one may") {
  check({
      {"a = 1 OR b = 2", {{"a", 1}}, T},
      {"a = 1 OR b = 2", {{"b", 2}}, T},
      {"a = 1 OR b = 2", {{"a", 2}}, U},
      {"a = 1 AND b = 2", {{"a", 2}}, F},
      {"a = 1 AND b = 2", {{"b", 3}}, F},
      {"a = 1 AND b = 2", {{"a", 1}}, U},
      {"NOT (a = 1)", {}, U},
      {"NOT (a = 1)", {{"a", 2}}, T},
  });
}

TEST_CASE("literals, numbers and texts") {
  check({
      {"2 + 3 * 4 = 14", {}, T},
      {"(2 + 3) * 4 = 20", {}, T},
      {"-2 * -3 = 6", {}, T},
      {"i = 9007199254740993", {{"i", 9007199254740993}}, T},
      {"i = 9007199254740993", {{"i", 9007199254740992}}, F},
      {"i < 1.5", {{"i", 1}}, T},
      {"s = 'it''s'", {{"s", "it's"}}, T},
      {"flag = TRUE", {{"flag", true}}, T},
      {"flag <> FALSE", {{"flag", true}}, T},
      {"flag", {{"flag", true}}, T},
      {"flag", {{"flag", false}}, F},
      {"flag", {}, U},
      {"NOT flag", {{"flag", false}}, T},
      {"n > 'a'", {{"n", 3}}, F},
      {"TRUEish = 1", {{"TRUEish", 1}}, T},
      {"a.b.0 = 'x'", {{"a", {{"b", Value::Array{"x"}}}}}, T},
      {"", {}, T},
      {" \t\r\n\f", {}, T},
      {"TRUE", {}, T},
      {"FALSE", {}, F},
  });
}

TEST_CASE("a whole selector as users write them") {
  const std::string text =
      "JMSType = 'car' AND color = 'blue' AND weight > 2500 AND (speed >= 100 OR sport)";
  const ParamSet car{{"JMSType", "car"}, {"color", "blue"}, {"weight", 2600}, {"sport", true}};
  check({{text.c_str(), car, T}});
  auto light = car;
  light.set("weight", 2500);
  auto slow = car;
  slow.set("sport", false);
  auto fast = slow;
  fast.set("speed", 100.0);
  check({{text.c_str(), light, F}, {text.c_str(), slow, U}, {text.c_str(), fast, T}});
}

TEST_CASE("the example of the manual") {
  const std::string text =
      "kind = 'car' AND weight > 2500 AND (color IN ('blue', 'red') OR position.lat BETWEEN 45 AND "
      "55.5)";
  CHECK(parse(text).text() == text);
  const ParamSet green{
      {"kind", "car"}, {"weight", 2600}, {"color", "green"}, {"position", {{"lat", 50.5}}}};
  check({{text.c_str(), green, T}});
  auto absent = green;
  absent.erase("position");
  auto red = absent;
  red.set("color", "red");
  check({{text.c_str(), absent, U}, {text.c_str(), red, T}});
  check({{"NOT (a = 1)", {}, U}, {"a <> 1 OR a IS NULL", {}, T}});
}
