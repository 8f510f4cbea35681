// The rules that topics and patterns share. Internal to core/topic.
#pragma once

#include <string_view>

#include "core/base/error.h"

namespace headrace {

enum class NameKind : unsigned char { kTopic, kPattern };

// kInvalid, naming the text and the rule it breaks.
Result<void> check_name(std::string_view text, NameKind kind);

}  // namespace headrace
