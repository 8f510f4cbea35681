// Random selectors against a slow and plain model of them.
#include <rapidcheck/catch.h>

#include <cstdlib>

#include "tests/unit/selector/model.h"
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;
using Kind = Model::Kind;

namespace {

template <typename T>
T one_of(const std::vector<T>& values) {
  return values[*rc::gen::inRange<std::size_t>(0, values.size())];
}

bool chance(int percent) { return *rc::gen::inRange(0, 100) < percent; }

const std::vector<Value> kNumbers{0,
                                  1,
                                  2,
                                  3,
                                  -1,
                                  7,
                                  0.0,
                                  0.5,
                                  1.0,
                                  1.5,
                                  -2.5,
                                  1e300,
                                  9007199254740993,
                                  9007199254740992.0,
                                  INT64_MAX,
                                  INT64_MIN + 1,
                                  9223372036854775808u,
                                  UINT64_MAX,
                                  18446744073709551616.0};
const std::vector<Value> kTexts{"", "a", "ab", "b", "it's", "a_b", "100%"};
const std::vector<std::string> kPatterns{"%", "a%", "%b", "_", "a_", "a!_%", "%!%", "!!", "%a%b%"};
const std::vector<std::string> kNames{"a", "b", "c", "d", "p.x", "p.y.z", "l.0", "l.1.x", "none"};

Value any_value() {
  switch (*rc::gen::inRange(0, 10)) {
    case 0: return Value();
    case 1: return chance(50);
    case 2:
    case 3: return one_of(kTexts);
    case 4: return Blob{"a"};
    default: return one_of(kNumbers);
  }
}

ParamSet any_params() {
  ParamSet params;
  for (const auto* name : {"a", "b", "c", "d", "other"}) {
    if (chance(80)) params.set(name, any_value());
  }
  if (chance(80)) params.set("p", ParamSet{{"x", any_value()}, {"y", {{"z", any_value()}}}});
  if (chance(80)) params.set("l", Value::Array{any_value(), ParamSet{{"x", any_value()}}});
  return params;
}

ModelPtr make(Model model) {
  model.wrapped = chance(10);
  return std::make_shared<const Model>(std::move(model));
}

ModelPtr name() {
  Model model;
  model.kind = Kind::kName;
  model.word = one_of(kNames);
  return make(model);
}

ModelPtr literal(const Value& value) {
  Model model;
  model.literal = value;
  return make(model);
}

ModelPtr number(int depth) {
  Model model;
  switch (depth <= 0 ? *rc::gen::inRange(0, 3) : *rc::gen::inRange(0, 7)) {
    case 0:
    case 1: return name();
    case 2: return literal(one_of(kNumbers));
    case 3:
      model.kind = Kind::kSign;
      model.word = one_of<std::string>({"+", "-"});
      model.parts = {name()};
      return make(model);
    default:
      model.kind = Kind::kCalculate;
      model.word = one_of<std::string>({"+", "-", "*", "/"});
      model.parts = {number(depth - 1), number(depth - 1)};
      return make(model);
  }
}

ModelPtr condition(int depth);

ModelPtr comparison(int depth) {
  Model model;
  model.kind = Kind::kCompare;
  model.word = one_of<std::string>({"=", "<>", "<", "<=", ">", ">="});
  const bool order = model.word != "=" && model.word != "<>";
  const auto side = [&] {
    switch (*rc::gen::inRange(0, 6)) {
      case 0: return literal(one_of(kTexts));
      case 1: return literal(chance(50));
      case 2: return order ? number(depth - 1) : condition(depth - 2);
      default: return number(depth - 1);
    }
  };
  model.parts = {side(), side()};
  return make(model);
}

ModelPtr predicate(int depth) {
  Model model;
  model.kind = one_of<Kind>({Kind::kBetween, Kind::kIn, Kind::kLike, Kind::kIsNull});
  model.negated = chance(40);
  model.parts = {name()};
  if (model.kind == Kind::kBetween) {
    model.parts = {number(depth - 1), number(depth - 1), number(depth - 1)};
  } else if (model.kind == Kind::kIn) {
    for (auto n = *rc::gen::inRange(1, 4); n > 0; --n) {
      model.texts.push_back(*one_of(kTexts).get_if<std::string>());
    }
  } else if (model.kind == Kind::kLike) {
    model.word = one_of(kPatterns);
  }
  return make(model);
}

ModelPtr condition(int depth) {
  Model model;
  switch (depth <= 0 ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(0, 12)) {
    case 0: return name();
    case 1: return literal(chance(50));
    case 2:
    case 3: return predicate(depth);
    case 4:
      model.kind = Kind::kNot;
      model.parts = {condition(depth - 1)};
      return make(model);
    case 5:
    case 6:
    case 7:
      model.kind = Kind::kAnd;
      model.parts = {condition(depth - 1), condition(depth - 1)};
      return make(model);
    case 8:
    case 9:
      model.kind = Kind::kOr;
      model.parts = {condition(depth - 1), condition(depth - 1)};
      return make(model);
    default: return comparison(depth);
  }
}

// As RapidCheck's own variable, with as many cases as this needs unless it says otherwise.
void more_cases() { setenv("RC_PARAMS", "max_success=1500", 0); }

}  // namespace

TEST_CASE("a selector answers as the model does, and so does its canonical form") {
  more_cases();
  std::array<int, 3> seen{};
  rc::prop("answers agree", [&] {
    const auto model = condition(5);
    const auto text = print(*model);
    RC_LOG() << text << "\n";
    const auto selector = Selector::parse(text);
    if (!selector) RC_FAIL(selector.error().message);
    const auto again = Selector::parse(selector->text());
    if (!again) RC_FAIL(again.error().message);
    RC_ASSERT(*again == *selector);
    RC_ASSERT(again->text() == selector->text());
    for (int i = 0; i < 4; ++i) {
      const auto params = any_params();
      const auto expected = test::answer(*model, params);
      RC_LOG() << to_hex(encode(params).value()) << "\n";
      RC_ASSERT(test::answer(*selector, params) == expected);
      RC_ASSERT(test::answer(*again, params) == expected);
      ++seen[static_cast<std::size_t>(expected)];
    }
  });
  for (const auto times : seen) CHECK(times > 300);
}

TEST_CASE("a text with anything changed in it is refused, or has a canonical form of its own") {
  more_cases();
  int refused = 0;
  rc::prop("canonical or refused", [&] {
    auto text = print(*condition(4));
    for (auto n = *rc::gen::inRange(1, 4); n > 0; --n) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const auto with =
          one_of<std::string>({"", " ", "(", ")", "'", "NOT ", "-", ".", "1", "=", "a"});
      text.replace(at, *rc::gen::inRange<std::size_t>(0, 3), with);
    }
    RC_LOG() << text << "\n";
    const auto selector = Selector::parse(text);
    if (!selector) {
      ++refused;
      RC_ASSERT(selector.error().code == Code::kInvalid);
      return;
    }
    const auto params = any_params();
    const auto again = Selector::parse(selector->text());
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->text() == selector->text());
    RC_ASSERT(test::answer(*again, params) == test::answer(*selector, params));
  });
  CHECK(refused > 300);
}
