#include "core/store/keys.h"

#include <cstring>

#include "core/base/check.h"

namespace headrace::keys {

namespace {

constexpr std::uint8_t kTopPriority = 9;
constexpr std::uint64_t kSignBit = 1ULL << 63;  // flipped, two's complement sorts as unsigned

std::optional<std::uint64_t> parse_u64(BytesView key, Space space) {
  KeyReader reader(key, space);
  const auto number = reader.u64();
  return reader.done() ? std::optional(number) : std::nullopt;
}

}  // namespace

Key& Key::i64(std::int64_t value) { return u64(static_cast<std::uint64_t>(value) ^ kSignBit); }

Key& Key::raw(BytesView bytes) {
  HEADRACE_CHECK(bytes.size() <= kCapacity - size_);
  if (!bytes.empty()) std::memcpy(bytes_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return *this;
}

Key& Key::number(std::uint64_t value, unsigned width) {
  HEADRACE_CHECK(width <= kCapacity - size_);
  for (unsigned left = width; left > 0; --left) {
    bytes_[size_++] = static_cast<char>(value >> (8 * (left - 1)));
  }
  return *this;
}

KeyReader::KeyReader(BytesView key, Space space) : left_(key) {
  if (u8() != static_cast<std::uint8_t>(space)) ok_ = false;
}

std::int64_t KeyReader::i64() { return static_cast<std::int64_t>(u64() ^ kSignBit); }

BytesView KeyReader::raw(std::size_t size) {
  if (!ok_ || left_.size() < size) {
    ok_ = false;
    return {};
  }
  const auto bytes = left_.substr(0, size);
  left_.remove_prefix(size);
  return bytes;
}

std::uint64_t KeyReader::number(unsigned width) {
  std::uint64_t value = 0;
  for (const char byte : raw(width)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

Key ready(const Ready& at) {
  HEADRACE_CHECK(at.priority <= kTopPriority);
  return Key(Space::kReady)
      .u32(at.queue)
      .u32(at.topic)
      .u8(static_cast<std::uint8_t>(kTopPriority - at.priority))
      .u64(at.number);
}

std::optional<std::uint32_t> parse_topic(BytesView key) {
  KeyReader reader(key, Space::kTopic);
  const auto number = reader.u32();
  return reader.done() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> parse_job(BytesView key) { return parse_u64(key, Space::kJob); }
std::optional<std::uint64_t> parse_payload(BytesView key) {
  return parse_u64(key, Space::kPayload);
}
std::optional<std::uint64_t> parse_active(BytesView key) { return parse_u64(key, Space::kActive); }

std::optional<JobId> parse_job_id(BytesView key) {
  KeyReader reader(key, Space::kJobId);
  const auto raw = reader.raw(16);
  return reader.done() ? std::optional(JobId::from_raw(raw)) : std::nullopt;
}

std::optional<Ready> parse_ready(BytesView key) {
  KeyReader reader(key, Space::kReady);
  Ready at;
  at.queue = reader.u32();
  at.topic = reader.u32();
  const auto below_top = reader.u8();
  at.number = reader.u64();
  if (!reader.done() || below_top > kTopPriority) return std::nullopt;
  at.priority = static_cast<std::uint8_t>(kTopPriority - below_top);
  return at;
}

std::optional<Delayed> parse_delayed(BytesView key) {
  KeyReader reader(key, Space::kDelayed);
  Delayed at;
  at.due = reader.time();
  at.job = reader.u64();
  return reader.done() ? std::optional(at) : std::nullopt;
}

std::optional<History> parse_history(BytesView key) {
  KeyReader reader(key, Space::kHistory);
  History at;
  at.queue = reader.u32();
  at.end = reader.time();
  at.job = reader.u64();
  return reader.done() ? std::optional(at) : std::nullopt;
}

}  // namespace headrace::keys
