#include "core/base/time.h"

#include <cstdio>

namespace headrace {
namespace {

// Reads exactly `digits` decimal digits at `at`; -1 if they are not there.
int number(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool has(std::string_view text, std::size_t at, char c) { return at < text.size() && text[at] == c; }

// Minutes east of UTC of the zone that starts at `at` and ends the text; false if there is none.
bool zone(std::string_view text, std::size_t at, int& minutes) {
  minutes = 0;
  if ((has(text, at, 'Z') || has(text, at, 'z')) && text.size() == at + 1) return true;
  if (!has(text, at, '+') && !has(text, at, '-')) return false;
  const int hour = number(text, at + 1, 2);
  const int minute = number(text, at + 4, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  if (!has(text, at + 3, ':') || text.size() != at + 6) return false;
  minutes = (hour * 60 + minute) * (text[at] == '-' ? -1 : 1);
  return true;
}

}  // namespace

std::string format_rfc3339(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  const auto refuse = [&] {
    return fail(Code::kInvalid, "'" + std::string(text.substr(0, 80)) +
                                    "' is not a time: expected RFC 3339, as 2026-11-30T12:00:00Z");
  };
  const int year = number(text, 0, 4);
  const int month = number(text, 5, 2);
  const int day = number(text, 8, 2);
  const int hour = number(text, 11, 2);
  const int minute = number(text, 14, 2);
  const int second = number(text, 17, 2);
  if (year < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return refuse();
  }
  if (!has(text, 4, '-') || !has(text, 7, '-') || !has(text, 13, ':') || !has(text, 16, ':')) return refuse();
  if (!has(text, 10, 'T') && !has(text, 10, 't') && !has(text, 10, ' ')) return refuse();
  if (month < 1 || day < 1) return refuse();
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return refuse();

  std::size_t at = 19;
  std::int64_t micros = 0;
  if (has(text, at, '.')) {
    std::int64_t unit = 100'000;
    const std::size_t first = ++at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) micros += (text[at] - '0') * unit;
    if (at == first || at - first > 9) return refuse();
  }
  int east = 0;
  if (!zone(text, at, east)) return refuse();
  return std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute - east} +
         std::chrono::seconds{second} + Micros{micros};
}

}  // namespace headrace
