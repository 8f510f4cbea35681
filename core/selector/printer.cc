#include "core/selector/printer.h"

#include <array>
#include <charconv>
#include <utility>

namespace headrace::selector {
namespace {

// Lowest first.
enum class Binding { kOr, kAnd, kNot, kComparison, kSum, kProduct, kSign, kPrimary };

struct Printed {
  std::string text;
  Binding binding = Binding::kPrimary;
};

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted += '\'';
}

std::string number(const Operand& value) {
  std::array<char, 32> digits;
  auto* const end = digits.data() + digits.size();
  if (value.kind == Operand::Kind::kInt) {
    return {digits.data(), std::to_chars(digits.data(), end, value.integer).ptr};
  }
  if (value.kind == Operand::Kind::kUint) {
    return {digits.data(), std::to_chars(digits.data(), end, value.large).ptr};
  }
  std::string text(digits.data(), std::to_chars(digits.data(), end, value.approximate).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

const char* spelled(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual: return " = ";
    case Comparison::kNotEqual: return " <> ";
    case Comparison::kLess: return " < ";
    case Comparison::kLessEqual: return " <= ";
    case Comparison::kGreater: return " > ";
    case Comparison::kGreaterEqual: return " >= ";
  }
  return "";
}

const char* spelled(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kAdd: return " + ";
    case Arithmetic::kSubtract: return " - ";
    case Arithmetic::kMultiply: return " * ";
    case Arithmetic::kDivide: return " / ";
  }
  return "";
}

// Goes through the steps as an evaluation does, with texts in place of values.
class Printer final {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string run() {
    for (const auto& step : program_.steps) print(step);
    return std::move(stack_.back().text);
  }

 private:
  using B = Binding;

  void print(const Step& step) {
    switch (step.op) {
      case Op::kSkipIfFalse:
      case Op::kSkipIfTrue: return;
      case Op::kCondition: return push(operand(step.first, B::kOr), B::kPrimary);
      case Op::kNot: return push("NOT " + operand({}, B::kNot), B::kNot);
      case Op::kPlus: return push("+" + operand(step.first, B::kSign), B::kSign);
      case Op::kMinus: return push("-" + operand(step.first, B::kSign), B::kSign);
      case Op::kAnd: return binary({}, {}, " AND ", B::kAnd, B::kNot);
      case Op::kOr: return binary({}, {}, " OR ", B::kOr, B::kAnd);
      case Op::kCompare:
        return binary(step.first, step.second, spelled(step.comparison), B::kComparison, B::kSum);
      case Op::kCalculate:
        if (step.arithmetic == Arithmetic::kAdd || step.arithmetic == Arithmetic::kSubtract) {
          return binary(step.first, step.second, spelled(step.arithmetic), B::kSum, B::kProduct);
        }
        return binary(step.first, step.second, spelled(step.arithmetic), B::kProduct, B::kSign);
      default: return predicate(step);
    }
  }

  // Operators of one level go left to right, so the right side must bind closer.
  void binary(Ref left, Ref right, const char* between, Binding binding, Binding closer) {
    const auto after = operand(right, closer);
    auto text = operand(left, binding);
    text.append(between).append(after);
    push(std::move(text), binding);
  }

  void predicate(const Step& step) {
    std::string after = step.negated ? " NOT" : "";
    if (step.op == Op::kBetween) {
      const auto high = operand(step.third, B::kSum);
      after += " BETWEEN " + operand(step.second, B::kSum) + " AND " + high;
    } else if (step.op == Op::kIn) {
      after += " IN (";
      for (const auto& text : program_.lists[step.extra]) after += quote(text) + ", ";
      after.replace(after.size() - 2, 2, ")");
    } else if (step.op == Op::kLike) {
      const auto& pattern = program_.patterns[step.extra];
      after += " LIKE " + quote(pattern.pattern());
      if (!pattern.escape().empty()) after += " ESCAPE " + quote(pattern.escape());
    } else {
      after = step.negated ? " IS NOT NULL" : " IS NULL";
    }
    push(operand(step.first, B::kSum) + after, B::kComparison);
  }

  // In parentheses unless it binds at least so closely.
  std::string operand(Ref ref, Binding least) {
    if (ref.from == Ref::From::kConstant) return constant(program_.constants[ref.index]);
    if (ref.from == Ref::From::kSlot) return program_.slots[ref.index].name;
    auto printed = std::move(stack_.back());
    stack_.pop_back();
    if (printed.binding >= least) return std::move(printed.text);
    return "(" + printed.text + ")";
  }

  static std::string constant(const Operand& value) {
    if (value.is_text()) return quote(value.view());
    if (value.is_number()) return number(value);
    return value.boolean ? "TRUE" : "FALSE";
  }

  void push(std::string text, Binding binding) { stack_.push_back({std::move(text), binding}); }

  const Program& program_;
  std::vector<Printed> stack_;
};

}  // namespace

std::string print(const Program& program) { return Printer(program).run(); }

}  // namespace headrace::selector
