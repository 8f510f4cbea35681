#include "core/store/quarantine.h"

#include "core/base/limits.h"
#include "core/store/keys.h"
#include "core/store/record.h"

namespace headrace {

namespace {

constexpr std::uint8_t kRecordVersion = 1;
constexpr std::size_t kReasonHead = 2;  // bytes of the length before the reason

}  // namespace

void quarantine(WriteBatch& batch, BytesView key, BytesView value, std::string_view reason) {
  reason = reason.substr(0, limits::kErrorBytes);
  Bytes body;
  body.reserve(kReasonHead + reason.size() + value.size());
  body.push_back(static_cast<char>(reason.size() >> 8));
  body.push_back(static_cast<char>(reason.size()));
  body.append(reason).append(value);
  Bytes aside(1, static_cast<char>(keys::Space::kQuarantine));
  aside.append(key);
  record::put(batch, aside, kRecordVersion, body);
  batch.erase(key);
}

Result<Quarantined> open_quarantined(BytesView stored) {
  const auto opened = record::open(stored);
  if (!opened) return fail(opened.error());
  const auto body = opened->body;
  std::size_t size = 0;
  for (const char byte : body.substr(0, kReasonHead))
    size = size << 8 | static_cast<unsigned char>(byte);
  if (opened->version != kRecordVersion || body.size() < kReasonHead + size) {
    return fail(Code::kStore, "a row in quarantine has an unknown layout");
  }
  return Quarantined{body.substr(kReasonHead, size), body.substr(kReasonHead + size)};
}

Result<std::uint64_t> count_quarantined(const Snapshot& snapshot) {
  const auto cursor = snapshot.cursor();
  std::uint64_t count = 0;
  for (cursor->seek(keys::space(keys::Space::kQuarantine));
       cursor->valid() && keys::in_space(cursor->key(), keys::Space::kQuarantine); cursor->next()) {
    ++count;
  }
  if (auto status = cursor->status(); !status) return fail(status.error());
  return count;
}

}  // namespace headrace
