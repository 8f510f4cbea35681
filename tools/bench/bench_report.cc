#include "tools/bench/bench_report.h"

#include <unistd.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/table.h"

namespace headrace::bench {
namespace {

constexpr std::size_t kBarWidth = 30;

// Ends its line when the measurement ends, however that is.
class Bar final {
 public:
  explicit Bar(bool terminal) : terminal_(terminal) {}
  ~Bar() {
    if (terminal_ && drawn_ > 0) std::cerr << '\r' << std::string(drawn_, ' ') << '\r';
  }

  void show(std::string_view what, double done) {
    if (!terminal_) {
      if (what != last_) std::cerr << what << "...\n";
      last_ = what;
      return;
    }
    const double share = std::clamp(done, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(share * kBarWidth);
    std::string line = '[' + std::string(full, '#') + std::string(kBarWidth - full, '.') + "] " +
                       std::to_string(std::lround(share * 100)) + " % " + std::string(what);
    const auto size = line.size();
    if (size < drawn_) line.append(drawn_ - size, ' ');
    drawn_ = size;
    std::cerr << '\r' << line << std::flush;
  }

 private:
  const bool terminal_;
  std::size_t drawn_ = 0;
  std::string last_;
};

// 12,345 above a thousand; three digits that count below.
std::string number_text(double value) {
  if (std::abs(value) < 1000) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  std::string digits = std::to_string(std::llround(value));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (digits[0] == '-' ? 1 : 0);
       at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return cli::cell(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return number_text(value.get<double>());
  std::string text;
  for (const auto& [key, element] : value.items()) {
    if (!text.empty()) text += value.is_object() ? " " : "; ";
    if (value.is_object()) text += key + ' ';
    text += value_text(element);
  }
  return text;
}

}  // namespace

Progress progress_for(const cli::Options& options) {
  if (options.json()) return {};
  auto bar = std::make_shared<Bar>(isatty(STDERR_FILENO) != 0);
  return [bar](std::string_view what, double done) { bar->show(what, done); };
}

void print_report(const cli::Options& options, const nlohmann::json& report) {
  if (options.json()) {
    std::cout << report.dump() << '\n';
    return;
  }
  std::vector<std::vector<std::string>> rows{{"FIGURE", "VALUE"}};
  for (const auto& [name, value] : report.items()) rows.push_back({name, value_text(value)});
  std::cout << cli::table(rows);
}

}  // namespace headrace::bench
