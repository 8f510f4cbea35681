#include "core/selector/operand.h"

#include <cmath>
#include <compare>

#include "core/selector/same_text.h"

namespace headrace::selector {
namespace {

using Kind = Operand::Kind;
__extension__ using Wide = __int128;  // holds every exact number, and all but the largest products

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

Wide wide(const Operand& exact) {
  return exact.kind == Kind::kInt ? Wide{exact.integer} : Wide{exact.large};
}

double to_double(const Operand& number) {
  switch (number.kind) {
    case Kind::kInt: return static_cast<double>(number.integer);
    case Kind::kUint: return static_cast<double>(number.large);
    default: return number.approximate;
  }
}

// Of two numbers with the same whole part: 0 against the other's fraction.
template <typename Integer>
std::partial_ordering order_in_range(Integer exact, double value) {
  const double whole = std::trunc(value);
  const auto other = static_cast<Integer>(whole);
  if (exact != other) return exact <=> other;
  return 0.0 <=> value - whole;
}

// `exact` against `value`, of which neither is rounded.
std::partial_ordering order_mixed(const Operand& exact, double value) {
  const bool small = exact.kind == Kind::kInt;  // else from 2^63 to 2^64
  if (std::isnan(value)) return std::partial_ordering::unordered;
  if (value >= (small ? kTwoTo63 : kTwoTo64)) return std::partial_ordering::less;
  if (value < (small ? -kTwoTo63 : 0.0)) return std::partial_ordering::greater;
  return small ? order_in_range(exact.integer, value) : order_in_range(exact.large, value);
}

std::partial_ordering order(const Operand& left, const Operand& right) {
  if (left.kind == Kind::kInt && right.kind == Kind::kInt) return left.integer <=> right.integer;
  if (left.kind == Kind::kDouble && right.kind == Kind::kDouble) {
    return left.approximate <=> right.approximate;
  }
  if (right.kind == Kind::kDouble) return order_mixed(left, right.approximate);
  if (left.kind == Kind::kDouble) return 0 <=> order_mixed(right, left.approximate);
  if (left.kind != right.kind) {  // the larger kind holds the larger numbers
    return left.kind == Kind::kInt ? std::partial_ordering::less : std::partial_ordering::greater;
  }
  return left.large <=> right.large;
}

bool holds(Comparison how, std::partial_ordering order) {
  switch (how) {
    case Comparison::kEqual: return order == 0;
    case Comparison::kNotEqual: return order != 0;
    case Comparison::kLess: return order < 0;
    case Comparison::kLessEqual: return order <= 0;
    case Comparison::kGreater: return order > 0;
    case Comparison::kGreaterEqual: return order >= 0;
  }
  return false;
}

bool holds(Comparison how, bool equal) {
  return how == Comparison::kEqual ? equal : how == Comparison::kNotEqual && !equal;
}

Operand narrow(Wide value) {
  if (value >= 0) {
    return value <= Wide{UINT64_MAX} ? Operand::exact(static_cast<std::uint64_t>(value))
                                     : Operand::null();
  }
  return value >= Wide{INT64_MIN} ? Operand::exact(static_cast<std::int64_t>(value))
                                  : Operand::null();
}

Operand finite(double value) {
  return std::isfinite(value) ? Operand::inexact(value) : Operand::null();
}

Operand calculate_exact(Arithmetic how, Wide left, Wide right) {
  Wide result = 0;
  switch (how) {
    case Arithmetic::kAdd: result = left + right; break;
    case Arithmetic::kSubtract: result = left - right; break;
    case Arithmetic::kMultiply:
      if (__builtin_mul_overflow(left, right, &result)) return Operand::null();
      break;
    case Arithmetic::kDivide:
      if (right == 0) return Operand::null();
      result = left / right;
      break;
  }
  return narrow(result);
}

Operand calculate_inexact(Arithmetic how, double left, double right) {
  switch (how) {
    case Arithmetic::kAdd: return finite(left + right);
    case Arithmetic::kSubtract: return finite(left - right);
    case Arithmetic::kMultiply: return finite(left * right);
    case Arithmetic::kDivide: return finite(left / right);  // by zero: infinite or none
  }
  return Operand::null();
}

}  // namespace

Truth compare(Comparison how, const Operand& left, const Operand& right) {
  if (left.is_null() || right.is_null()) return Truth::kUnknown;
  if (left.is_number() && right.is_number()) return to_truth(holds(how, order(left, right)));
  if (left.kind != right.kind) return Truth::kFalse;
  if (left.is_text()) return to_truth(holds(how, same_text(left.view(), right.view())));
  if (left.kind == Kind::kBool) return to_truth(holds(how, left.boolean == right.boolean));
  return Truth::kFalse;
}

Operand calculate(Arithmetic how, const Operand& left, const Operand& right) {
  if (!left.is_number() || !right.is_number()) return Operand::null();
  if (left.kind == Kind::kDouble || right.kind == Kind::kDouble) {
    return calculate_inexact(how, to_double(left), to_double(right));
  }
  return calculate_exact(how, wide(left), wide(right));
}

Operand negate(const Operand& operand) {
  if (operand.kind == Kind::kDouble) return Operand::inexact(-operand.approximate);
  if (!operand.is_number()) return Operand::null();
  return narrow(-wide(operand));
}

Operand as_number(const Operand& operand) {
  return operand.is_number() ? operand : Operand::null();
}

}  // namespace headrace::selector
