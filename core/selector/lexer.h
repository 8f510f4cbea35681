// Lexer: the text of a selector as tokens.
//
// Used by the parser alone, on one thread; views look into the text. It never reads past the text
// and does a bounded amount of work for each of its bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/selector/operand.h"

namespace headrace::selector {

struct Fault {
  std::size_t offset = 0;  // in bytes
  std::string reason;
};

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kName,
    kText,
    kNumber,
    kNot,
    kAnd,
    kOr,
    kBetween,
    kLike,
    kIn,
    kIs,
    kNull,
    kEscape,
    kTrue,
    kFalse,
    kPlus,
    kMinus,
    kStar,
    kSlash,
    kOpen,
    kClose,
    kComma,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
  };

  Kind kind = Kind::kEnd;
  std::size_t offset = 0;
  std::string_view spelled;  // as it stands there
  std::string text;          // of kText, without its quotes
  Operand number{};          // of kNumber

  // For a message: "the name 'a'", "the end", ...
  std::string description() const;
};

class Lexer final {
 public:
  // `text` is UTF-8.
  explicit Lexer(std::string_view text) : text_(text) {}

  // kEnd again and again once the text is used up.
  tl::expected<Token, Fault> next();

 private:
  using Next = tl::expected<Token, Fault>;

  Next name();
  Next field(std::size_t end);
  Next quoted();
  Next number();
  Next symbol();
  Token token(Token::Kind kind, std::size_t end);  // from at_ to `end`, which becomes at_
  tl::unexpected<Fault> refuse(std::size_t offset, std::string reason) const;
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  std::size_t digits_end(std::size_t from) const;
  std::size_t word_end(std::size_t from) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace headrace::selector
