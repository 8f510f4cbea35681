// UTF-8: checking what arrives, and showing in a message what may be anything.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

// Takes the first code point off `text`. kBadUtf8, with one byte taken, if none begins there:
// overlong forms, surrogates and what lies above U+10FFFF are refused. `text` must not be empty.
inline constexpr char32_t kBadUtf8 = 0xFFFFFFFF;
char32_t take_code_point(std::string_view& text);

bool is_utf8(std::string_view text);

// `text` between quotes for a message: control characters and bytes that are no UTF-8 as \xNN, cut
// after about 80 bytes. The result is always printable UTF-8.
std::string shown(std::string_view text);

}  // namespace headrace
