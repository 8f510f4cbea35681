// Whether two texts are equal, without a call for the short ones that most are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace::selector {

// Of `size` bytes, from one word's size to twice that: as its first and last words.
template <typename Word>
bool same_words(const char* a, const char* b, std::size_t size) {
  const auto word = [](const char* at) {
    Word value;
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  const auto last = size - sizeof(Word);
  return word(a) == word(b) && word(a + last) == word(b + last);
}

inline bool same_text(std::string_view a, std::string_view b) {
  const auto size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return same_words<std::uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return same_words<std::uint32_t>(a.data(), b.data(), size);
  if (size >= 2) return same_words<std::uint16_t>(a.data(), b.data(), size);
  return size == 0 || a.front() == b.front();
}

}  // namespace headrace::selector
