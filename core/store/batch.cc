#include "core/store/batch.h"

#include "core/base/check.h"

namespace headrace {

namespace {
constexpr std::size_t kPartBytes = INT32_MAX;
}

void WriteBatch::put(BytesView key, BytesView head, BytesView body) {
  HEADRACE_CHECK(key.size() <= kPartBytes && head.size() <= kPartBytes &&
                 body.size() <= kPartBytes);
  const Head sizes{static_cast<std::uint32_t>(key.size()),
                   static_cast<std::uint32_t>(head.size() + body.size())};
  bytes_.append(reinterpret_cast<const char*>(&sizes), sizeof sizes);
  bytes_.append(key).append(head).append(body);
  ++count_;
}

void WriteBatch::erase(BytesView key) {
  HEADRACE_CHECK(key.size() <= kPartBytes);
  const Head sizes{static_cast<std::uint32_t>(key.size()), kErased};
  bytes_.append(reinterpret_cast<const char*>(&sizes), sizeof sizes);
  bytes_.append(key);
  ++count_;
}

void WriteBatch::append(const WriteBatch& other) {
  bytes_.append(other.bytes_);
  count_ += other.count_;
}

void WriteBatch::clear() {
  bytes_.clear();
  count_ = 0;
}

}  // namespace headrace
