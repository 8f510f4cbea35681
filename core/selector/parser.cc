#include "core/selector/parser.h"

#include <utility>

namespace headrace::selector {
namespace {

using Kind = Token::Kind;

}  // namespace

// ---- tokens and faults ----

Parser::Level::Level(Parser& parser, const Token& token) : parser_(parser) {
  if (++parser_.depth_ > limits::kSelectorDepth) {
    parser_.refuse_found(token, "nested deeper than " + std::to_string(limits::kSelectorDepth));
  }
}

Token Parser::advance() {
  auto before = std::exchange(now_, Token{});
  if (fault_) return before;
  auto next = lexer_.next();
  if (next) {
    now_ = std::move(*next);
  } else {
    fault_ = std::move(next.error());
  }
  return before;
}

bool Parser::take(Kind kind) {
  if (!is(kind)) return false;
  advance();
  return true;
}

void Parser::expect(Kind kind, const char* what) {
  if (!take(kind)) refuse_found(now_, "expected " + std::string(what));
}

void Parser::refuse(const Token& found, std::string reason) {
  if (!fault_) fault_ = Fault{found.offset, std::move(reason)};
  now_ = Token{};
}

void Parser::refuse_found(const Token& found, std::string reason) {
  refuse(found, std::move(reason) + ", found " + found.description());
}

void Parser::count_node(const Token& token) {
  if (++nodes_ > limits::kSelectorNodes) {
    refuse_found(token,
                 "more than " + std::to_string(limits::kSelectorNodes) + " operands and operators");
  }
}

// ---- types ----

void Parser::need_condition(const Expr& expr) {
  if (expr.type == Type::kNumber || expr.type == Type::kText) {
    refuse_found(expr.token, "expected a condition");
  }
}

void Parser::need_number(const Expr& expr, const char* who) {
  if (expr.type != Type::kAny && expr.type != Type::kNumber) {
    refuse_found(expr.token, std::string(who) + " takes numbers");
  }
}

void Parser::need_name(const Expr& expr, const char* who, bool of_text) {
  if (!expr.named || (of_text && expr.type == Type::kNumber)) {
    refuse_found(expr.token, std::string(who) + " takes the name of a parameter" +
                                 (of_text ? " with a text" : ""));
  }
}

Parser::Expr Parser::emit(const Step& step, Type type, const Expr& left) {
  if (fault_) return {};
  return {builder_.emit(step), type, false, left.token};
}

// ---- the grammar ----

tl::expected<Program, Fault> Parser::run() {
  const auto whole = condition();
  need_condition(whole);
  if (!fault_ && !is(Kind::kEnd)) refuse_found(now_, "expected an operator or the end");
  if (fault_) return tl::unexpected(std::move(*fault_));
  return builder_.finish(whole.ref);
}

Parser::Expr Parser::condition() {
  auto left = both();
  while (is(Kind::kOr)) left = join(left, Op::kOr, &Parser::both);
  return left;
}

Parser::Expr Parser::both() {
  auto left = inverted();
  while (is(Kind::kAnd)) left = join(left, Op::kAnd, &Parser::inverted);
  return left;
}

Parser::Expr Parser::join(const Expr& left, Op op, Expr (Parser::*side)()) {
  need_condition(left);
  count_node(advance());
  if (fault_) return {};
  builder_.condition(left.ref);
  const auto skip = builder_.skip(op);
  const auto right = (this->*side)();
  need_condition(right);
  if (fault_) return {};
  builder_.condition(right.ref);
  return {builder_.land(skip, op), Type::kCondition, false, left.token};
}

Parser::Expr Parser::inverted() {
  if (!is(Kind::kNot)) return comparison();
  const auto token = advance();
  const Level deeper(*this, token);
  count_node(token);
  const auto operand = inverted();
  need_condition(operand);
  if (fault_) return {};
  return {builder_.negation(operand.ref), Type::kCondition, false, token};
}

}  // namespace headrace::selector
