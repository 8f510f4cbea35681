// A selector and the parameters that it meets: its text, a zero byte, encoded parameters.
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/selector/selector.h"

using namespace headrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto zero = all.find('\0');
  const std::string text(all.substr(0, zero));
  // A buffer of its own size, so that a step past its end shows.
  const auto params =
      zero == std::string_view::npos ? std::string() : std::string(all.substr(zero + 1));

  const auto selector = Selector::parse(text);
  if (!selector) {
    HEADRACE_CHECK(selector.error().code == Code::kInvalid);
    return 0;
  }
  SelectorInput input;
  input.params = params;
  input.topic = "weather.us";
  input.node = "node";
  input.time = WallTime{Micros{1'700'000'000'000'000}};
  input.size = 100;
  const auto answer = selector->matches(input);

  const auto again = Selector::parse(selector->text());
  HEADRACE_CHECK(again.has_value());
  HEADRACE_CHECK(again->text() == selector->text());
  HEADRACE_CHECK(again->matches(input) == answer);
  if (!selector->selects_all()) {
    // Inverting twice changes nothing but at the limits.
    const auto inverted = Selector::parse("NOT (" + selector->text() + ")");
    if (inverted) HEADRACE_CHECK(inverted->matches(input) == truth_not(answer));
  }
  return 0;
}
