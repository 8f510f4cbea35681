// WriteBatch: puts and erases that reach the store all together or not at all, in the order they
// were added.
//
// A plain byte buffer, so that joining two is a memcpy and a cleared one keeps its memory. Owned by
// whoever fills it; handed to the commit thread whole. Not thread-safe. Keys and values stay below
// 2 GiB each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/bytes.h"

namespace headrace {

class WriteBatch final {
 public:
  void put(BytesView key, BytesView value) { put(key, value, {}); }
  // The value is `head` followed by `body`: an envelope costs no copy of what it wraps.
  void put(BytesView key, BytesView head, BytesView body);
  void erase(BytesView key);  // not an error where there is no such key

  void append(const WriteBatch& other);
  void clear();

  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }  // operations
  std::size_t bytes() const {
    return bytes_.size();
  }  // memory used; about what the log will grow by

  // Calls put(key, value) or erase(key) for each operation, in order. The views end with the next
  // change.
  template <typename Put, typename Erase>
  void each(Put&& put, Erase&& erase) const {
    for (const char* at = bytes_.data(); at != bytes_.data() + bytes_.size();) {
      Head head;
      std::memcpy(&head, at, sizeof head);
      const BytesView key{at + sizeof head, head.key};
      at += sizeof head + head.key;
      if (head.value == kErased) {
        erase(key);
        continue;
      }
      put(key, BytesView{at, head.value});
      at += head.value;
    }
  }

 private:
  struct Head {
    std::uint32_t key = 0;    // bytes of the key
    std::uint32_t value = 0;  // bytes of the value, or kErased
  };
  static constexpr std::uint32_t kErased = UINT32_MAX;

  Bytes bytes_;
  std::size_t count_ = 0;
};

}  // namespace headrace
