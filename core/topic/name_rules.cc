#include "core/topic/name_rules.h"

#include <array>
#include <string>

#include "core/base/limits.h"
#include "core/base/utf8.h"

namespace headrace {
namespace {

// Bytes that need no second look: ASCII but for white space, controls and what has a meaning.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned c = 0x21; c < 0x7F; ++c) plain[c] = c != '.' && c != '*' && c != '>';
  return plain;
}();

// Unicode's White_Space property.
bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

// What is wrong with a word that has no wildcard meaning, or null.
const char* word_fault(std::string_view word) {
  if (word.empty()) return "a word is empty";
  if (word.size() > limits::kTopicWordBytes) return "a word has more than 255 bytes";
  while (!word.empty()) {
    if (kPlain[static_cast<unsigned char>(word.front())]) {
      word.remove_prefix(1);
      continue;
    }
    const auto c = take_code_point(word);
    if (c == kBadUtf8) return "it is not UTF-8";
    if (is_white_space(c)) return "white space is not allowed";
    if (is_control(c)) return "control characters are not allowed";
    if (c == '*' || c == '>') return "'*' and '>' are not part of a word";
  }
  return nullptr;
}

const char* name_fault(std::string_view text, NameKind kind) {
  static_assert(limits::kTopicBytes == 1024 && limits::kTopicWords == 128 &&
                limits::kTopicWordBytes == 255);  // the sentences here
  if (text.empty()) return "it is empty";
  if (text.size() > limits::kTopicBytes) return "it has more than 1024 bytes";
  std::size_t words = 0;
  while (true) {
    const auto dot = text.find('.');
    const auto word = text.substr(0, dot);
    const bool last = dot == std::string_view::npos;
    if (++words > limits::kTopicWords) return "it has more than 128 words";
    if (kind == NameKind::kTopic && (word == "*" || word == ">")) {
      return "wildcards stand for many topics and cannot be one";
    }
    if (word == ">" && !last) return "'>' is allowed as the last word only";
    if (word != "*" && word != ">") {
      if (const char* fault = word_fault(word)) return fault;
    }
    if (last) return nullptr;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<void> check_name(std::string_view text, NameKind kind) {
  const char* fault = name_fault(text, kind);
  if (fault == nullptr) return {};
  const char* what = kind == NameKind::kTopic ? "topic " : "topic pattern ";
  return fail(Code::kInvalid, what + shown(text) + " is invalid: " + fault);
}

}  // namespace headrace
