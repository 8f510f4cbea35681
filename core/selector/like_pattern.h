// LikePattern: what stands after LIKE, made ready. `_` stands for any one character, `%` for any
// sequence of them, none included; a character is a code point.
//
// A pattern is cut at its `%` into runs. The first must begin the text and the last end it; each
// between is taken at its first place after the one before, which never has to be reconsidered. So
// a match costs at most the length of the text times that of the pattern, and mostly one pass.
//
// Immutable; any thread. Matching allocates nothing, and is safe for bytes that are no UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace headrace::selector {

class LikePattern final {
 public:
  // `escape` is empty or one character, which takes the meaning of the `_`, `%` or `escape` after
  // it. Both are UTF-8. The error is the reason why it is no pattern.
  static tl::expected<LikePattern, std::string> compile(std::string_view pattern,
                                                        std::string_view escape);

  bool matches(std::string_view text) const;

  const std::string& pattern() const { return pattern_; }
  const std::string& escape() const { return escape_; }

 private:
  struct Piece {
    unsigned any = 0;     // so many characters, whatever they are,
    std::string literal;  // and then these
  };
  using Run = std::vector<Piece>;  // only the last piece may have an empty literal

  // Take the run off the front or the back of the text; false if it does not stand there.
  static bool take_front(const Run& run, std::string_view& text);
  static bool take_back(const Run& run, std::string_view& text);
  // Takes everything up to the end of the run's first place in the text.
  static bool take_first(const Run& run, std::string_view& text);

  std::string pattern_;
  std::string escape_;
  std::vector<Run> runs_{1};  // at least one
};

}  // namespace headrace::selector
