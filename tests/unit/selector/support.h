// What the tests of selectors share.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "core/selector/selector.h"
#include "core/value/value_codec.h"

namespace headrace {

inline std::ostream& operator<<(std::ostream& out, Truth truth) {
  return out << (truth == Truth::kTrue ? 'T' : truth == Truth::kFalse ? 'F' : 'U');
}

namespace test {

inline constexpr Truth T = Truth::kTrue;
inline constexpr Truth F = Truth::kFalse;
inline constexpr Truth U = Truth::kUnknown;

inline Selector parse(const std::string& text) {
  auto selector = Selector::parse(text);
  INFO(text);
  if (!selector) FAIL(selector.error().message);
  return *selector;
}

inline Truth answer(const Selector& selector, const ParamSet& params) {
  const auto encoded = encode(params).value();
  SelectorInput input;
  input.params = encoded;
  return selector.matches(input);
}

inline Truth answer(const std::string& text, const ParamSet& params = {}) {
  return answer(parse(text), params);
}

// The text of the error after "selector '...' is invalid at ".
inline std::string fault(const std::string& text) {
  const auto selector = Selector::parse(text);
  if (selector) return "none";
  CHECK(selector.error().code == Code::kInvalid);
  const std::string before = " is invalid at ";
  const auto& message = selector.error().message;
  const auto at = message.rfind(before);
  if (!message.starts_with("selector '") || at == std::string::npos) return message;
  return message.substr(at + before.size());
}

}  // namespace test
}  // namespace headrace
