#include "tools/sim/trace.h"

#include <iomanip>
#include <ostream>

namespace headrace::sim {

void Trace::line(MonoTime now, const std::string& text) {
  mix(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  mix(text);
  detail(now, text);
}

void Trace::detail(MonoTime now, const std::string& text) {
  if (out_ == nullptr) return;
  const auto nanos = (now.time_since_epoch() - std::chrono::seconds{1000}).count();
  *out_ << std::fixed << std::setprecision(6) << static_cast<double>(nanos) / 1e9 << ' ' << text
        << '\n';
}

}  // namespace headrace::sim
