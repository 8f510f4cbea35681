#include "core/topic/topic_pattern.h"

#include "core/topic/name_rules.h"

namespace headrace {
namespace {

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*>") != std::string_view::npos;
}

}  // namespace

Result<TopicPattern> TopicPattern::parse(std::string_view text) {
  if (auto valid = check_name(text, NameKind::kPattern); !valid)
    return fail(std::move(valid.error()));
  const auto form = text == "*" ? Form::kRoot : has_wildcard(text) ? Form::kWild : Form::kTopic;
  return TopicPattern(text, form);
}

bool TopicPattern::matches(std::string_view topic) const {
  if (form_ == Form::kTopic) return topic == text_;
  if (is_system_topic(topic) && !is_system_topic(text_)) return false;
  if (form_ == Form::kRoot) return true;
  Words mine(text_);
  Words theirs(topic);
  while (mine.more() && theirs.more()) {
    const auto word = mine.next();
    if (word == ">") return true;
    const auto other = theirs.next();
    if (word != "*" && word != other) return false;
  }
  return !mine.more() && !theirs.more();
}

}  // namespace headrace
