#include "core/base/time.h"

#include <catch2/catch.hpp>

using namespace headrace;
using namespace std::chrono_literals;

TEST_CASE("a time prints as RFC 3339 and reads back") {
  const WallTime time{std::chrono::sys_days{std::chrono::year{2024} / 2 / 29} + 23h + 59min + 58s + 120034us};
  CHECK(format_rfc3339(time) == "2024-02-29T23:59:58.120034Z");
  CHECK(parse_rfc3339("2024-02-29T23:59:58.120034Z").value() == time);
  CHECK(parse_rfc3339("2024-03-01T01:29:58.120034999+01:30").value() == time);
  CHECK(parse_rfc3339("1970-01-01T00:00:00Z").value() == WallTime{});
  CHECK(parse_rfc3339("1969-12-31T23:59:59.5-00:00").value() == WallTime{-500ms});
}

TEST_CASE("a time refuses what is no RFC 3339") {
  for (const char* text : {"", "2024-02-30T00:00:00Z", "2024-02-29", "2024-02-29T24:00:00Z", "2024-02-29T00:00:00",
                           "2024-02-29T00:00:00.Z", "2024-02-29T00:00:00+1:00", "2024-02-29T00:00:00Zx", "noon"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
}
