#include "core/base/utf8.h"

#include <cstring>

namespace headrace {
namespace {

constexpr std::size_t kShown = 80;

bool eight_are_ascii(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080ULL) == 0;
}

// Length of the sequence that `lead` begins, 0 if none does; `smallest` is the first code point
// that needs it.
std::size_t sequence_length(unsigned char lead, char32_t& smallest) {
  if (lead < 0x80) return smallest = 0, 1;
  if (lead < 0xC0) return 0;
  if (lead < 0xE0) return smallest = 0x80, 2;
  if (lead < 0xF0) return smallest = 0x800, 3;
  if (lead < 0xF8) return smallest = 0x10000, 4;
  return 0;
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  char32_t smallest = 0;
  const auto length = sequence_length(lead, smallest);
  const auto refuse = [&] {
    text.remove_prefix(1);
    return kBadUtf8;
  };
  if (length == 0 || length > text.size()) return refuse();
  char32_t point = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return refuse();
    point = point << 6 | (next & 0x3Fu);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < smallest || point > 0x10FFFF || surrogate) return refuse();
  text.remove_prefix(length);
  return point;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8 && eight_are_ascii(text.data())) {
      text.remove_prefix(8);
    } else if (take_code_point(text) == kBadUtf8) {
      return false;
    }
  }
  return true;
}

std::string shown(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "'";
  while (!text.empty() && out.size() <= kShown) {
    const auto before = text;
    const auto point = take_code_point(text);
    const auto taken = before.substr(0, before.size() - text.size());
    if (point != kBadUtf8 && point >= 0x20 && !(point >= 0x7F && point <= 0x9F)) {
      out.append(taken);
      continue;
    }
    for (const char c : taken) {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return out.append(text.empty() ? "'" : "...'");
}

}  // namespace headrace
