// Operand: a value while a selector is evaluated, and what comparison and arithmetic make of it.
//
// Exact numbers are whole and go from -2^63 to 2^64 - 1, as parameters do; approximate ones are
// doubles. An exact and an approximate number are compared by their mathematical values, never
// through a rounded one. Arithmetic of two exact numbers is exact; with a double among them it is
// that of doubles. A result that is no number (out of range, division by zero, an operand that is
// null or of another type) is null.
//
// A plain value; a text is a view that must outlive it. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/selector/truth.h"

namespace headrace::selector {

struct Operand {
  enum class Kind : std::uint8_t {
    kNull,
    kBool,
    kInt,     // exact
    kUint,    // exact, above the range of kInt
    kDouble,  // approximate
    kText,
    kOther,  // bytes, array, map, ext: not null, and comparable with nothing
  };

  // Without initializers: an evaluation has room for many and touches few.
  Kind kind;
  std::uint32_t size;  // of a text
  union {
    bool boolean;
    std::int64_t integer;
    std::uint64_t large;
    double approximate;
    const char* bytes;
  };

  static Operand of(Kind kind) {
    Operand operand;
    operand.kind = kind;
    operand.size = 0;
    operand.large = 0;
    return operand;
  }
  static Operand null() { return of(Kind::kNull); }
  static Operand other() { return of(Kind::kOther); }
  static Operand exact(std::int64_t value) {
    auto operand = of(Kind::kInt);
    operand.integer = value;
    return operand;
  }
  static Operand exact(std::uint64_t value) {
    if (value <= INT64_MAX) return exact(static_cast<std::int64_t>(value));
    auto operand = of(Kind::kUint);
    operand.large = value;
    return operand;
  }
  static Operand inexact(double value) {
    auto operand = of(Kind::kDouble);
    operand.approximate = value;
    return operand;
  }
  static Operand text(std::string_view value) {
    auto operand = of(Kind::kText);
    operand.size = static_cast<std::uint32_t>(value.size());
    operand.bytes = value.data();
    return operand;
  }
  // Unknown is null: the result of a condition is an operand too.
  static Operand truth(Truth value) {
    if (value == Truth::kUnknown) return null();
    auto operand = of(Kind::kBool);
    operand.boolean = value == Truth::kTrue;
    return operand;
  }

  bool is_null() const { return kind == Kind::kNull; }
  bool is_text() const { return kind == Kind::kText; }
  bool is_number() const {
    return kind == Kind::kInt || kind == Kind::kUint || kind == Kind::kDouble;
  }
  std::string_view view() const { return {bytes, size}; }  // of a text
  // As a condition: `flag` means `flag = TRUE`, so what is no boolean is false.
  Truth as_condition() const {
    if (is_null()) return Truth::kUnknown;
    return to_truth(kind == Kind::kBool && boolean);
  }
};

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};
enum class Arithmetic : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide };

// Unknown if one is null; false if they are of different types, or of one that has no such order.
Truth compare(Comparison how, const Operand& left, const Operand& right);
Operand calculate(Arithmetic how, const Operand& left, const Operand& right);
Operand negate(const Operand& operand);
// Unary plus: the number itself, null for anything else.
Operand as_number(const Operand& operand);

}  // namespace headrace::selector
