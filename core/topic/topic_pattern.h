// TopicPattern: which topics a registration, queue, consumer or permission stands for. Headrace's
// one matcher.
//
//   a.b.c   that topic
//   a.*.c   one word, whatever it is, in place of each '*'
//   a.>     one word or more after `a`; '>' is always the last word
//   *       alone: the root, every topic
//
// Neither the root nor a pattern reaches into `$sys` unless it begins with `$sys`. The limits are
// those of Topic. A value type; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/topic/topic.h"

namespace headrace {

class TopicPattern final {
 public:
  enum class Form : unsigned char {
    kTopic,  // no wildcard
    kRoot,   // '*' alone
    kWild,   // '*' or '>' among its words
  };

  // kInvalid, naming the text and the rule it breaks.
  static Result<TopicPattern> parse(std::string_view text);
  static TopicPattern exactly(const Topic& topic) { return {topic.text(), Form::kTopic}; }

  const std::string& text() const { return text_; }
  Form form() const { return form_; }
  bool matches(const Topic& topic) const { return matches(std::string_view(topic.text())); }
  // `topic` must be a valid one.
  bool matches(std::string_view topic) const;

  auto operator<=>(const TopicPattern&) const = default;

 private:
  TopicPattern(std::string_view text, Form form) : text_(text), form_(form) {}

  std::string text_;
  Form form_;
};

}  // namespace headrace
