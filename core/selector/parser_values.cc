// Arithmetic, and what stands for a value.
#include "core/selector/parser.h"

namespace headrace::selector {
namespace {

using Kind = Token::Kind;

}  // namespace

Parser::Expr Parser::sum() {
  auto left = product();
  while (is(Kind::kPlus) || is(Kind::kMinus)) left = calculate(left, &Parser::product);
  return left;
}

Parser::Expr Parser::product() {
  auto left = signed_value();
  while (is(Kind::kStar) || is(Kind::kSlash)) left = calculate(left, &Parser::signed_value);
  return left;
}

Parser::Expr Parser::calculate(const Expr& left, Expr (Parser::*side)()) {
  const auto token = advance();
  count_node(token);
  need_number(left, "arithmetic");
  const auto right = (this->*side)();
  need_number(right, "arithmetic");
  Step step;
  step.op = Op::kCalculate;
  step.first = left.ref;
  step.second = right.ref;
  switch (token.kind) {
    case Kind::kPlus: step.arithmetic = Arithmetic::kAdd; break;
    case Kind::kMinus: step.arithmetic = Arithmetic::kSubtract; break;
    case Kind::kStar: step.arithmetic = Arithmetic::kMultiply; break;
    default: step.arithmetic = Arithmetic::kDivide; break;
  }
  return emit(step, Type::kNumber, left);
}

Parser::Expr Parser::signed_value() {
  if (!is(Kind::kPlus) && !is(Kind::kMinus)) return primary();
  const auto token = advance();
  const Level deeper(*this, token);
  const bool minus = token.kind == Kind::kMinus;
  auto operand = signed_value();
  need_number(operand, "a sign");
  if (fault_) return {};
  if (operand.ref.from == Ref::From::kConstant) {  // the sign belongs to the literal
    if (minus && !builder_.negate_constant(operand.ref)) {
      refuse_found(operand.token, "with its sign the number is out of the range of 64 bits");
    }
    operand.token = token;
    return operand;
  }
  count_node(token);
  Step step;
  step.op = minus ? Op::kMinus : Op::kPlus;
  step.first = operand.ref;
  operand.token = token;
  return emit(step, Type::kNumber, operand);
}

Parser::Expr Parser::primary() {
  switch (now_.kind) {
    case Kind::kOpen: return parentheses();
    case Kind::kName: return name();
    case Kind::kText:
    case Kind::kNumber:
    case Kind::kTrue:
    case Kind::kFalse: return literal();
    case Kind::kNull: refuse_found(now_, "a null equals nothing; ask by IS NULL"); return {};
    default: refuse_found(now_, "expected a value"); return {};
  }
}

Parser::Expr Parser::parentheses() {
  const auto token = advance();
  const Level deeper(*this, token);
  if (fault_) return {};
  auto inner = condition();
  expect(Kind::kClose, "an operator or ')'");
  return fault_ ? Expr{} : inner;
}

Parser::Expr Parser::literal() {
  const auto token = advance();
  count_node(token);
  if (token.kind == Kind::kText) return {builder_.text(token.text), Type::kText, false, token};
  if (token.kind == Kind::kNumber) {
    return {builder_.constant(token.number), Type::kNumber, false, token};
  }
  const auto truth = to_truth(token.kind == Kind::kTrue);
  return {builder_.constant(Operand::truth(truth)), Type::kBool, false, token};
}

Parser::Expr Parser::name() {
  const auto token = advance();
  count_node(token);
  const auto slot = builder_.slot(token.spelled);
  if (!slot) {
    refuse_found(token, "more than " + std::to_string(limits::kSelectorNames) + " names");
    return {};
  }
  const auto name = token.spelled;
  const auto type = name == "$time" || name == "$size" ? Type::kNumber
                    : name.front() == '$'              ? Type::kText
                                                       : Type::kAny;
  return {*slot, type, true, token};
}

}  // namespace headrace::selector
