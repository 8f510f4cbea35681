#include "core/selector/like_pattern.h"

#include "core/base/limits.h"
#include "core/base/utf8.h"

namespace headrace::selector {
namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string_view take_character(std::string_view& text) {
  const auto before = text;
  take_code_point(text);
  return before.substr(0, before.size() - text.size());
}

bool skip_characters(std::string_view& text, unsigned count) {
  for (; count > 0; --count) {
    if (text.empty()) return false;
    std::size_t bytes = 1;
    while (bytes < text.size() && continues(text[bytes])) ++bytes;
    text.remove_prefix(bytes);
  }
  return true;
}

bool skip_characters_back(std::string_view& text, unsigned count) {
  for (; count > 0; --count) {
    if (text.empty()) return false;
    while (text.size() > 1 && continues(text.back())) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return true;
}

}  // namespace

tl::expected<LikePattern, std::string> LikePattern::compile(std::string_view pattern,
                                                            std::string_view escape) {
  LikePattern made;
  made.pattern_ = pattern;
  made.escape_ = escape;
  std::size_t steps = 0;
  for (auto rest = pattern; !rest.empty();) {
    auto character = take_character(rest);
    if (++steps > limits::kSelectorLikeSteps) {
      return tl::unexpected("the pattern has more than " +
                            std::to_string(limits::kSelectorLikeSteps) + " characters");
    }
    auto& run = made.runs_.back();
    if (character == escape) {
      character = rest.empty() ? rest : take_character(rest);
      if (character != "_" && character != "%" && character != escape) {
        return tl::unexpected("in the pattern only '_', '%' or " + shown(escape) +
                              " may follow the escape " + shown(escape));
      }
    } else if (character == "%") {
      // Several in a row are one.
      if (!run.empty() || made.runs_.size() == 1) made.runs_.emplace_back();
      continue;
    } else if (character == "_") {
      if (run.empty() || !run.back().literal.empty()) run.emplace_back();
      ++run.back().any;
      continue;
    }
    if (run.empty()) run.emplace_back();
    run.back().literal += character;
  }
  return made;
}

bool LikePattern::take_front(const Run& run, std::string_view& text) {
  auto rest = text;
  for (const auto& piece : run) {
    if (!skip_characters(rest, piece.any) || !rest.starts_with(piece.literal)) return false;
    rest.remove_prefix(piece.literal.size());
  }
  text = rest;
  return true;
}

bool LikePattern::take_back(const Run& run, std::string_view& text) {
  auto rest = text;
  for (auto piece = run.rbegin(); piece != run.rend(); ++piece) {
    if (!rest.ends_with(piece->literal)) return false;
    rest.remove_suffix(piece->literal.size());
    if (!skip_characters_back(rest, piece->any)) return false;
  }
  text = rest;
  return true;
}

bool LikePattern::take_first(const Run& run, std::string_view& text) {
  for (auto rest = text;; skip_characters(rest, 1)) {
    if (!run.empty() && run.front().any == 0) {
      const auto at = rest.find(run.front().literal);
      if (at == std::string_view::npos) return false;
      rest.remove_prefix(at);
    }
    if (take_front(run, rest)) {
      text = rest;
      return true;
    }
    if (rest.empty()) return false;
  }
}

bool LikePattern::matches(std::string_view text) const {
  if (!take_front(runs_.front(), text)) return false;
  if (runs_.size() == 1) return text.empty();
  if (!take_back(runs_.back(), text)) return false;
  for (std::size_t i = 1; i + 1 < runs_.size(); ++i) {
    if (!take_first(runs_[i], text)) return false;
  }
  return true;
}

}  // namespace headrace::selector
