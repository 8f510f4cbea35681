// Includes through both spellings that an installed tree allows, and links.
#include <headrace/core/base/time.h>

#include "core/base/error.h"

int main() {
  auto time = headrace::parse_rfc3339("2026-11-30T12:00:00Z");
  auto refused = headrace::parse_rfc3339("noon");
  bool right = time && headrace::format_rfc3339(*time) == "2026-11-30T12:00:00.000000Z" &&
               !refused && refused.error().code == headrace::Code::kInvalid;
  return right ? 0 : 1;
}
