// Three-valued logic: what a null touches is unknown, and only what is true selects.
// Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace headrace {

// In an order that makes AND the smaller and OR the larger of two.
enum class Truth : std::uint8_t { kFalse = 0, kUnknown = 1, kTrue = 2 };

constexpr Truth to_truth(bool value) { return value ? Truth::kTrue : Truth::kFalse; }
constexpr Truth truth_and(Truth a, Truth b) { return std::min(a, b); }
constexpr Truth truth_or(Truth a, Truth b) { return std::max(a, b); }
constexpr Truth truth_not(Truth a) { return static_cast<Truth>(2 - static_cast<int>(a)); }

}  // namespace headrace
