// Program: a selector made ready to be evaluated. Steps in postfix order, each of which names its
// operands (a literal, a parameter, or the result of an earlier step) and leaves one result on a
// small stack. AND and OR jump over what no longer matters.
//
// Made by the parser, immutable afterwards; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/base/limits.h"
#include "core/selector/like_pattern.h"
#include "core/selector/operand.h"

namespace headrace::selector {

// Where a step finds an operand.
struct Ref {
  enum class From : std::uint8_t { kStack, kConstant, kSlot };
  From from = From::kStack;
  std::uint16_t index = 0;  // of the constant or the slot

  bool on_stack() const { return from == From::kStack; }
};

enum class Op : std::uint8_t {
  kCondition,  // a parameter or literal as a condition
  kCompare,
  kBetween,  // operand, low, high
  kIn,       // `extra` is the list
  kLike,     // `extra` is the pattern
  kIsNull,
  kNot,
  kAnd,
  kOr,
  kSkipIfFalse,  // goes on at step `extra`, the result so far being that of the AND
  kSkipIfTrue,   // likewise of the OR
  kPlus,
  kMinus,
  kCalculate,
};

struct Step {
  Op op = Op::kCondition;
  Comparison comparison = Comparison::kEqual;
  Arithmetic arithmetic = Arithmetic::kAdd;
  bool negated = false;  // NOT BETWEEN, NOT IN, NOT LIKE, IS NOT NULL
  // On the stack the last of them is on top.
  Ref first;
  Ref second;
  Ref third;
  std::uint16_t extra = 0;
};

// A name in a selector: a field of the event, or a parameter by its path.
struct Slot {
  enum class Field : std::uint8_t { kParameter, kTopic, kNode, kTime, kSize, kId };
  struct Part {
    std::string name;
    std::optional<std::size_t> index;  // if it may be the number of an array's element
  };

  // Of the first name of the path: most parameters differ in these and need no further look.
  std::size_t head_size = 0;
  char head = '\0';
  Field field = Field::kParameter;
  std::string name;        // as written
  std::vector<Part> path;  // of a parameter; at least one
};

struct Program {
  // Each level of nesting keeps at most six results waiting: of OR, AND, a comparison or the two
  // of BETWEEN, a sum, a product.
  static constexpr std::size_t kStack = 6 * (limits::kSelectorDepth + 1) + 1;

  std::vector<Step> steps;
  std::vector<Operand> constants;
  std::deque<std::string> texts;                // of the constants; a deque moves none
  std::vector<Slot> slots;                      // by first appearance; limits::kSelectorNames
  std::vector<std::vector<std::string>> lists;  // of IN; in byte order, each text once
  std::vector<LikePattern> patterns;
  std::string text;  // canonical
};

}  // namespace headrace::selector
