#include "core/selector/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/base/utf8.h"

namespace headrace::selector {
namespace {

using Kind = Token::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 11> kKeywords{{
    {"NOT", Kind::kNot},
    {"AND", Kind::kAnd},
    {"OR", Kind::kOr},
    {"BETWEEN", Kind::kBetween},
    {"LIKE", Kind::kLike},
    {"IN", Kind::kIn},
    {"IS", Kind::kIs},
    {"NULL", Kind::kNull},
    {"ESCAPE", Kind::kEscape},
    {"TRUE", Kind::kTrue},
    {"FALSE", Kind::kFalse},
}};
constexpr std::array<std::string_view, 5> kFields{"$topic", "$node", "$time", "$size", "$id"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\n' || c == '\r'; }

// Letters as far as they matter here: what text copied from elsewhere brings along unseen (spaces,
// quotes, dashes of other widths) is none, all else beyond ASCII is.
bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  const bool sign = c == 0xD7 || c == 0xF7;             // times, divided by
  const bool punctuation = c >= 0x2000 && c <= 0x206F;  // with spaces, quotes and dashes
  const bool operation = c >= 0x2200 && c <= 0x22FF;    // minus, not equal, ...
  const bool space = c == 0x1680 || c == 0x3000 || c == 0xFEFF;
  return !sign && !punctuation && !operation && !space && c != kBadUtf8;
}

Kind keyword(std::string_view word) {
  const auto same = [&](std::string_view keyword) {
    if (word.size() != keyword.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (upper(word[i]) != keyword[i]) return false;
    }
    return true;
  };
  for (const auto& [spelled, kind] : kKeywords) {
    if (same(spelled)) return kind;
  }
  return Kind::kName;
}

}  // namespace

std::string Token::description() const {
  switch (kind) {
    case Kind::kEnd: return "the end";
    case Kind::kName: return "the name " + shown(spelled);
    case Kind::kText: return "the text " + shown(text);
    case Kind::kNumber: return "the number " + std::string(spelled);
    default: return shown(spelled);
  }
}

tl::unexpected<Fault> Lexer::refuse(std::size_t offset, std::string reason) const {
  return tl::unexpected(Fault{offset, std::move(reason)});
}

Token Lexer::token(Kind kind, std::size_t end) {
  Token made;
  made.kind = kind;
  made.offset = at_;
  made.spelled = text_.substr(at_, end - at_);
  at_ = end;
  return made;
}

std::size_t Lexer::digits_end(std::size_t from) const {
  while (is_digit(at(from))) ++from;
  return from;
}

// The end of the letters and digits that stand there; `from` if there are none.
std::size_t Lexer::word_end(std::size_t from) const {
  auto rest = text_.substr(from);
  while (!rest.empty()) {
    auto after = rest;
    const auto c = take_code_point(after);
    if (!is_letter(c) && !is_digit(rest.front())) break;
    rest = after;
  }
  return text_.size() - rest.size();
}

Lexer::Next Lexer::next() {
  while (is_space(at(at_))) ++at_;
  if (at_ == text_.size()) return token(Kind::kEnd, at_);
  const char first = at(at_);
  if (first == '\'') return quoted();
  if (is_digit(first) || (first == '.' && is_digit(at(at_ + 1)))) return number();
  if (word_end(at_) != at_) return name();
  return symbol();
}

Lexer::Next Lexer::name() {
  auto end = word_end(at_);
  const auto first = text_.substr(at_, end - at_);
  const auto kind = keyword(first);
  if (first.front() == '$') return field(end);
  if (at(end) != '.') return token(kind, end);
  if (kind != Kind::kName) {
    return refuse(at_, "a keyword cannot name a parameter, found " + shown(first));
  }
  while (at(end) == '.') {
    const auto part = end + 1;
    end = word_end(part);
    if (end == part) {
      return refuse(part, "expected a name or a number after the dot, found " +
                              (part < text_.size() ? shown(text_.substr(part, 1)) : "the end"));
    }
  }
  return token(Kind::kName, end);
}

Lexer::Next Lexer::field(std::size_t end) {
  const auto spelled = text_.substr(at_, end - at_);
  for (const auto known : kFields) {
    if (spelled == known && at(end) != '.') return token(Kind::kName, end);
  }
  while (at(end) == '.' && word_end(end + 1) != end + 1) end = word_end(end + 1);
  return refuse(at_, "expected $topic, $node, $time, $size or $id, found the name " +
                         shown(text_.substr(at_, end - at_)));
}

Lexer::Next Lexer::quoted() {
  std::string text;
  auto end = at_ + 1;
  while (true) {
    const auto quote = text_.find('\'', end);
    if (quote == std::string_view::npos) {
      return refuse(at_, "a text has no closing quote, found " + shown(text_.substr(at_)));
    }
    text.append(text_, end, quote - end);
    end = quote + 1;
    if (at(end) != '\'') break;
    text += '\'';
    ++end;
  }
  auto made = token(Kind::kText, end);
  made.text = std::move(text);
  return made;
}

Lexer::Next Lexer::number() {
  auto end = digits_end(at_);
  bool exact = true;
  if (at(end) == '.') {
    end = digits_end(end + 1);
    exact = false;
  }
  if (upper(at(end)) == 'E') {
    const auto sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1u : 0u;
    const auto exponent = digits_end(end + 1 + sign);
    if (exponent > end + 1 + sign) {
      end = exponent;
      exact = false;
    }
  }
  const auto digits = text_.substr(at_, end - at_);
  const auto suffix = upper(at(end));
  if (suffix == 'F' || suffix == 'D') exact = false;
  if (suffix == 'F' || suffix == 'D' || (suffix == 'L' && exact)) ++end;
  if (const auto further = word_end(end); further != end || at(end) == '.') {
    const auto whole = text_.substr(at_, std::max(further, end + 1) - at_);
    return refuse(at_, "this is no number, found " + shown(whole));
  }
  const auto out_of_range = [&](const char* range) {
    return refuse(at_, "the number is out of the range of " + std::string(range) + ", found " +
                           shown(text_.substr(at_, end - at_)));
  };
  std::uint64_t whole = 0;
  double approximate = 0;
  const auto* first = digits.data();
  const auto* last = first + digits.size();
  const auto read =
      exact ? std::from_chars(first, last, whole) : std::from_chars(first, last, approximate);
  if (read.ec != std::errc{}) return out_of_range(exact ? "64 bits" : "a double");
  auto made = token(Kind::kNumber, end);
  made.number = exact ? Operand::exact(whole) : Operand::inexact(approximate);
  return made;
}

Lexer::Next Lexer::symbol() {
  const char second = at(at_ + 1);
  switch (at(at_)) {
    case '+': return token(Kind::kPlus, at_ + 1);
    case '-': return token(Kind::kMinus, at_ + 1);
    case '*': return token(Kind::kStar, at_ + 1);
    case '/': return token(Kind::kSlash, at_ + 1);
    case '(': return token(Kind::kOpen, at_ + 1);
    case ')': return token(Kind::kClose, at_ + 1);
    case ',': return token(Kind::kComma, at_ + 1);
    case '=': return token(Kind::kEqual, at_ + 1);
    case '<':
      if (second == '>') return token(Kind::kNotEqual, at_ + 2);
      return second == '=' ? token(Kind::kLessEqual, at_ + 2) : token(Kind::kLess, at_ + 1);
    case '>':
      return second == '=' ? token(Kind::kGreaterEqual, at_ + 2) : token(Kind::kGreater, at_ + 1);
    case '!': return refuse(at_, "not equal is written <>, found '!'");
    case '"': return refuse(at_, "a text stands between single quotes, found '\"'");
    default: break;
  }
  auto rest = text_.substr(at_);
  const auto before = rest;
  take_code_point(rest);
  return refuse(at_, "nothing begins with this character, found " +
                         shown(before.substr(0, before.size() - rest.size())));
}

}  // namespace headrace::selector
