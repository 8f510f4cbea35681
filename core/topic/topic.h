// Topic: the validated name under which an event or a job is published.
//
// 1 to kTopicWords words joined by dots, each of 1 to kTopicWordBytes bytes of UTF-8 without white
// space (Unicode's too), control characters, '*' or '>'; kTopicBytes in all. Upper and lower case
// differ. `$sys` and what lies below it are valid topics that only Headrace publishes to: callers
// ask is_system().
//
// A value type; any thread. The text is UTF-8 by construction.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace headrace {

class Topic final {
 public:
  // kInvalid, naming the text and the rule it breaks.
  static Result<Topic> parse(std::string_view text);
  // The same without making one.
  static Result<void> check(std::string_view text);

  const std::string& text() const { return text_; }
  bool is_system() const;

  auto operator<=>(const Topic&) const = default;

 private:
  explicit Topic(std::string_view text) : text_(text) {}
  std::string text_;
};

// Whether a topic or a pattern is `$sys` or begins with it.
inline bool is_system_topic(std::string_view text) {
  return text.starts_with("$sys") && (text.size() == 4 || text[4] == '.');
}
inline bool Topic::is_system() const { return is_system_topic(text_); }

// Walks the words of a name that was validated.
class Words final {
 public:
  explicit Words(std::string_view text) : rest_(text), more_(true) {}

  bool more() const { return more_; }
  std::string_view next() {
    const auto dot = rest_.find('.');
    const auto word = rest_.substr(0, dot);
    more_ = dot != std::string_view::npos;
    rest_.remove_prefix(more_ ? dot + 1 : rest_.size());
    return word;
  }

 private:
  std::string_view rest_;
  bool more_;
};

}  // namespace headrace
