// Parser: the grammar, lowest precedence first. Each function reads one level of it, appends what
// it read to the program, and says what it yields, so that a type that cannot be right is refused
// here and not met at each event.
//
//   condition   both {OR both}
//   both        inverted {AND inverted}
//   inverted    NOT inverted | comparison
//   comparison  sum {= sum | [NOT] BETWEEN sum AND sum | [NOT] IN (texts) | [NOT] LIKE text
//               [ESCAPE text] | IS [NOT] NULL}
//   sum         product {+ product};  product  signed {* signed};  signed  - signed | primary
//   primary     literal | name | ( condition )
//
// The first fault latches: from there on the text seems to have ended, so every level returns.
// What recurses (parentheses, NOT, signs) is counted against limits::kSelectorDepth.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/selector/builder.h"
#include "core/selector/lexer.h"

namespace headrace::selector {

class Parser final {
 public:
  // `text` is UTF-8 and not blank.
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  // Without its canonical text.
  tl::expected<Program, Fault> run();

 private:
  enum class Type : std::uint8_t { kAny, kNumber, kText, kBool, kCondition };
  struct Expr {
    Ref ref;
    Type type = Type::kAny;
    bool named = false;  // a parameter or field
    Token token;         // its first, for messages
  };
  // One level deeper while it lives; `token` leads there.
  class Level final {
   public:
    Level(Parser& parser, const Token& token);
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  Expr condition();
  Expr both();
  Expr inverted();
  Expr comparison();
  Expr sum();
  Expr product();
  Expr signed_value();
  Expr primary();
  Expr literal();
  Expr name();
  Expr parentheses();
  Expr join(const Expr& left, Op op, Expr (Parser::*side)());
  Expr compare(const Expr& left);
  Expr calculate(const Expr& left, Expr (Parser::*side)());
  Expr predicate(const Expr& left, bool negated);
  Step between(const Expr& left);
  Step in(const Expr& left);
  Step like(const Expr& left);
  Step is_null(const Expr& left);
  std::string quoted(const char* what);

  void need_condition(const Expr& expr);
  void need_number(const Expr& expr, const char* who);
  void need_name(const Expr& expr, const char* who, bool of_text);
  Expr emit(const Step& step, Type type, const Expr& left);
  void count_node(const Token& token);

  bool is(Token::Kind kind) const { return now_.kind == kind; }
  bool take(Token::Kind kind);
  void expect(Token::Kind kind, const char* what);
  Token advance();  // returns the token that was there
  void refuse(const Token& found, std::string reason);
  void refuse_found(const Token& found, std::string reason);  // names what was found too

  Lexer lexer_;
  Builder builder_;
  Token now_;
  std::optional<Fault> fault_;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace headrace::selector
