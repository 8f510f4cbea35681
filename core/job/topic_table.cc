#include "core/job/topic_table.h"

#include "core/base/limits.h"
#include "core/job/record.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/wire/codec.h"

namespace headrace::job {

Result<void> TopicTable::load(const Snapshot& snapshot) {
  const auto cursor = snapshot.cursor();
  for (cursor->seek(keys::space(keys::Space::kTopic)); cursor->valid(); cursor->next()) {
    const auto number = keys::parse_topic(cursor->key());
    if (!number) break;
    const auto opened = record::open(cursor->value());
    if (!opened) return fail(opened.error());
    wire::Reader in(opened->body);
    const std::string text(in.text(limits::kTopicBytes));
    if (!in.ok()) return fail(Code::kStore, "the row of topic number " + std::to_string(*number) + " is damaged");
    if (texts_.size() <= *number) texts_.resize(*number + 1);
    texts_[*number] = text;
    numbers_[text] = *number;
  }
  return cursor->status();
}

std::uint32_t TopicTable::number_of(std::string_view topic, WriteBatch& batch) {
  if (const auto at = numbers_.find(topic); at != numbers_.end()) return at->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(topic);
  numbers_.emplace(std::string(topic), number);
  Bytes body;
  wire::Writer(body).text(topic);
  record::put(batch, keys::topic(number), kRecordVersion, body);
  return number;
}

}  // namespace headrace::job
