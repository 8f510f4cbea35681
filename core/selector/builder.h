// Builder: appends to a Program what the parser has understood, and keeps its limits on names,
// stack and indexes. Types are the parser's business.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/selector/program.h"

namespace headrace::selector {

class Builder final {
 public:
  Ref constant(const Operand& value);  // no text
  Ref text(std::string_view value);
  // Puts a minus before a constant that is a number; false if it is out of range then.
  bool negate_constant(Ref constant);
  // Finds or makes the slot of that name; nothing if there would be too many.
  std::optional<Ref> slot(std::string_view name);

  // Appends a step. Its result is on the stack.
  Ref emit(const Step& step);
  Ref condition(Ref operand);  // as a condition on the stack
  Ref negation(Ref operand);   // of a condition on the stack
  // Before the right side of AND or OR: the step that land() completes after it.
  std::size_t skip(Op op);
  Ref land(std::size_t skip, Op op);
  Step in_list(Ref operand, std::vector<std::string> texts);
  Step like(Ref operand, LikePattern pattern);

  // `result` becomes the condition that the program answers.
  Program finish(Ref result);

 private:
  Program program_;
  std::size_t depth_ = 0;  // of the stack here
};

}  // namespace headrace::selector
