// Comparisons, and the predicates that are written in words.
#include <utility>

#include "core/base/utf8.h"
#include "core/selector/parser.h"

namespace headrace::selector {
namespace {

using Kind = Token::Kind;

std::optional<Comparison> comparison_of(Kind kind) {
  switch (kind) {
    case Kind::kEqual: return Comparison::kEqual;
    case Kind::kNotEqual: return Comparison::kNotEqual;
    case Kind::kLess: return Comparison::kLess;
    case Kind::kLessEqual: return Comparison::kLessEqual;
    case Kind::kGreater: return Comparison::kGreater;
    case Kind::kGreaterEqual: return Comparison::kGreaterEqual;
    default: return std::nullopt;
  }
}

}  // namespace

Parser::Expr Parser::comparison() {
  auto left = sum();
  while (!fault_) {
    if (comparison_of(now_.kind)) {
      left = compare(left);
    } else if (take(Kind::kNot)) {
      if (!is(Kind::kBetween) && !is(Kind::kIn) && !is(Kind::kLike)) {
        refuse_found(now_, "expected BETWEEN, IN or LIKE after NOT");
        break;
      }
      left = predicate(left, true);
    } else if (is(Kind::kBetween) || is(Kind::kIn) || is(Kind::kLike) || is(Kind::kIs)) {
      left = predicate(left, false);
    } else {
      return left;
    }
  }
  return {};
}

Parser::Expr Parser::compare(const Expr& left) {
  const auto token = advance();
  count_node(token);
  const auto right = sum();
  Step step;
  step.op = Op::kCompare;
  step.comparison = *comparison_of(token.kind);
  step.first = left.ref;
  step.second = right.ref;
  if (step.comparison != Comparison::kEqual && step.comparison != Comparison::kNotEqual) {
    if (left.type == Type::kCondition || right.type == Type::kCondition) {
      refuse_found(token, "a condition has no order (a range is written with BETWEEN)");
    }
  }
  return emit(step, Type::kCondition, left);
}

Parser::Expr Parser::predicate(const Expr& left, bool negated) {
  const auto token = advance();
  count_node(token);
  Step step;
  switch (token.kind) {
    case Kind::kBetween: step = between(left); break;
    case Kind::kIn: step = in(left); break;
    case Kind::kLike: step = like(left); break;
    default:
      negated = take(Kind::kNot);
      step = is_null(left);
      break;
  }
  step.negated = negated;
  return emit(step, Type::kCondition, left);
}

Step Parser::between(const Expr& left) {
  need_number(left, "BETWEEN");
  const auto low = sum();
  need_number(low, "BETWEEN");
  expect(Kind::kAnd, "AND");
  const auto high = sum();
  need_number(high, "BETWEEN");
  Step step;
  step.op = Op::kBetween;
  step.first = left.ref;
  step.second = low.ref;
  step.third = high.ref;
  return step;
}

std::string Parser::quoted(const char* what) {
  if (is(Kind::kText)) return advance().text;
  refuse_found(now_, "expected " + std::string(what) + " in quotes");
  return {};
}

Step Parser::in(const Expr& left) {
  need_name(left, "IN", true);
  expect(Kind::kOpen, "'('");
  std::vector<std::string> texts;
  do {
    if (texts.size() == limits::kSelectorInList && is(Kind::kText)) {
      refuse_found(now_, "more than " + std::to_string(limits::kSelectorInList) + " texts in IN");
    }
    texts.push_back(quoted("a text"));
  } while (take(Kind::kComma));
  expect(Kind::kClose, "',' or ')'");
  return fault_ ? Step{} : builder_.in_list(left.ref, std::move(texts));
}

Step Parser::like(const Expr& left) {
  need_name(left, "LIKE", true);
  const auto token = now_;
  const auto pattern = quoted("a pattern");
  std::string escape;
  if (take(Kind::kEscape)) {
    const auto at = now_;
    escape = quoted("an escape character");
    std::string_view rest = escape;
    if (!rest.empty()) take_code_point(rest);
    if (escape.empty() || !rest.empty()) refuse_found(at, "an escape is one character");
  }
  if (fault_) return {};
  auto made = LikePattern::compile(pattern, escape);
  if (!made) {
    refuse_found(token, std::move(made.error()));
    return {};
  }
  return builder_.like(left.ref, std::move(*made));
}

Step Parser::is_null(const Expr& left) {
  need_name(left, "IS NULL", false);
  expect(Kind::kNull, "NULL");
  Step step;
  step.op = Op::kIsNull;
  step.first = left.ref;
  return step;
}

}  // namespace headrace::selector
