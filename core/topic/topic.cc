#include "core/topic/topic.h"

#include "core/topic/name_rules.h"

namespace headrace {

Result<void> Topic::check(std::string_view text) { return check_name(text, NameKind::kTopic); }

Result<Topic> Topic::parse(std::string_view text) {
  if (auto valid = check(text); !valid) return fail(std::move(valid.error()));
  return Topic(text);
}

}  // namespace headrace
