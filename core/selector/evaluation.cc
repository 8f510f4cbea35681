#include "core/selector/evaluation.h"

#include <algorithm>
#include <array>

#include "core/selector/fields.h"

namespace headrace::selector {
namespace {

class Evaluation final {
 public:
  Evaluation(const Program& program, const SelectorInput& input)
      : program_(program), fields_(program.slots, input) {}

  Truth run() {
    const auto& steps = program_.steps;
    for (std::size_t at = 0; at < steps.size();) {
      const auto& step = steps[at];
      if ((step.op == Op::kSkipIfFalse && top() == Truth::kFalse) ||
          (step.op == Op::kSkipIfTrue && top() == Truth::kTrue)) {
        at = step.extra;
        continue;
      }
      if (step.op != Op::kSkipIfFalse && step.op != Op::kSkipIfTrue) perform(step);
      ++at;
    }
    return top();
  }

 private:
  const Operand& operand(Ref ref) {
    switch (ref.from) {
      case Ref::From::kConstant: return program_.constants[ref.index];
      case Ref::From::kSlot: return fields_.get(ref.index);
      case Ref::From::kStack: break;
    }
    return stack_[--height_];
  }
  Truth top() const { return stack_[height_ - 1].as_condition(); }
  Truth pop() { return stack_[--height_].as_condition(); }
  void push(const Operand& value) { stack_[height_++] = value; }
  // Field by field, as it will be read: a whole Operand copied would wait for its parts.
  void push(Truth value) {
    auto& top = stack_[height_++];
    top.kind = value == Truth::kUnknown ? Operand::Kind::kNull : Operand::Kind::kBool;
    top.boolean = value == Truth::kTrue;
  }

  // The operand that was left on the stack last is taken first. A result may take the place of one,
  // so it is made before it is pushed.
  void perform(const Step& step) {
    switch (step.op) {
      case Op::kCompare: {
        const auto& right = operand(step.second);
        return push(compare(step.comparison, operand(step.first), right));
      }
      case Op::kCalculate: {
        const auto& right = operand(step.second);
        return push(calculate(step.arithmetic, operand(step.first), right));
      }
      case Op::kAnd: {
        const auto right = pop();
        return push(truth_and(pop(), right));
      }
      case Op::kOr: {
        const auto right = pop();
        return push(truth_or(pop(), right));
      }
      case Op::kNot: return push(truth_not(pop()));
      case Op::kCondition: return push(operand(step.first).as_condition());
      case Op::kPlus: return push(as_number(operand(step.first)));
      case Op::kMinus: return push(negate(operand(step.first)));
      default: {
        const auto truth = predicate(step);
        return push(step.negated ? truth_not(truth) : truth);
      }
    }
  }

  Truth predicate(const Step& step) {
    if (step.op == Op::kBetween) {
      const auto& high = operand(step.third);
      const auto& low = operand(step.second);
      const auto& value = operand(step.first);
      return truth_and(compare(Comparison::kGreaterEqual, value, low),
                       compare(Comparison::kLessEqual, value, high));
    }
    const auto& value = operand(step.first);
    if (step.op == Op::kIsNull) return to_truth(value.is_null());
    if (value.is_null()) return Truth::kUnknown;
    if (!value.is_text()) return Truth::kFalse;
    if (step.op == Op::kLike) {
      return to_truth(program_.patterns[step.extra].matches(value.view()));
    }
    const auto& list = program_.lists[step.extra];
    return to_truth(std::binary_search(list.begin(), list.end(), value.view()));
  }

  const Program& program_;
  Fields fields_;
  std::array<Operand, Program::kStack> stack_;  // set below height_
  std::size_t height_ = 0;
};

}  // namespace

Truth evaluate(const Program& program, const SelectorInput& input) {
  return Evaluation(program, input).run();
}

}  // namespace headrace::selector
