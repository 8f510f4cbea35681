// TopicCache: answers by topic, so that the usual question costs one hash look-up and no
// allocation.
//
// When `max_bytes` of keys and answers are held it starts anew: the topics in use come back at
// once. Plain state with one owner.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/topic/topic_tree.h"

namespace headrace {

template <typename V>
class TopicCache final {
 public:
  explicit TopicCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Null if unknown. Valid until the next put() or clear().
  const V* find(std::string_view key) const {
    const auto at = answers_.find(key);
    return at == answers_.end() ? nullptr : &at->second;
  }
  // Replaces what was known; `bytes` is what `value` holds beyond itself. (A value that was
  // replaced goes on being counted, which only brings the new start forward.)
  const V& put(std::string_view key, V value, std::size_t bytes) {
    bytes += kEntryBytes + key.size();
    if (bytes_ + bytes > max_bytes_) clear();
    bytes_ += bytes;
    return answers_.insert_or_assign(std::string(key), std::move(value)).first->second;
  }
  void clear() {
    if (answers_.empty()) return;
    answers_.clear();
    bytes_ = 0;
  }
  std::size_t size() const { return answers_.size(); }

 private:
  // A map's node: links, hash, key.
  static constexpr std::size_t kEntryBytes = sizeof(V) + sizeof(std::string) + 32;

  std::unordered_map<std::string, V, StringHash, std::equal_to<>> answers_;
  std::size_t bytes_ = 0;
  std::size_t max_bytes_;
};

}  // namespace headrace
