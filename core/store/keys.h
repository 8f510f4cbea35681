// The keys of the store: one byte that names a space, then big-endian numbers of fixed width, so
// that bytewise order is the order of the numbers. docs/STORE.md lists what lies under each.
//
// Key is a small value with its bytes inside, no allocation; it converts to BytesView. The parse
// functions take any bytes and give nullopt for what is not a whole key of their space.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/time.h"

namespace headrace::keys {

enum class Space : char {
  kActive = 'a',      // job number
  kDelayed = 'd',     // due, job number
  kHistory = 'h',     // queue, end, job number
  kJobId = 'i',       // id
  kJob = 'j',         // job number
  kMeta = 'm',        // name
  kPayload = 'p',     // job number
  kQuarantine = 'q',  // the key of what could not be read
  kReady = 'r',       // queue, topic number, 9 - priority, ready number
  kTopic = 't',       // topic number
};

class Key final {
 public:
  static constexpr std::size_t kCapacity = 48;  // more than this is our own fault

  explicit Key(Space space) { u8(static_cast<std::uint8_t>(space)); }

  Key& u8(std::uint8_t value) { return number(value, 1); }
  Key& u32(std::uint32_t value) { return number(value, 4); }
  Key& u64(std::uint64_t value) { return number(value, 8); }
  Key& i64(std::int64_t value);  // negative numbers come first
  Key& time(WallTime value) { return i64(value.time_since_epoch().count()); }
  Key& raw(BytesView bytes);

  BytesView view() const { return {bytes_.data(), size_}; }
  operator BytesView() const { return view(); }  // NOLINT: a Key is taken wherever bytes are

 private:
  Key& number(std::uint64_t value, unsigned width);

  std::array<char, kCapacity> bytes_;
  std::size_t size_ = 0;
};

// Reads back what Key wrote. The first thing that does not fit latches the failure; see done().
class KeyReader final {
 public:
  KeyReader(BytesView key, Space space);

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::int64_t i64();
  WallTime time() { return WallTime{Micros{i64()}}; }
  BytesView raw(std::size_t size);

  bool done() const { return ok_ && left_.empty(); }  // everything fitted and nothing is left

 private:
  std::uint64_t number(unsigned width);

  BytesView left_;
  bool ok_ = true;
};

inline Key space(Space name) { return Key(name); }  // where a walk over a whole space begins
inline bool in_space(BytesView key, Space name) {
  return !key.empty() && key.front() == static_cast<char>(name);
}

inline Key meta(std::string_view name) { return Key(Space::kMeta).raw(name); }
inline Key topic(std::uint32_t number) { return Key(Space::kTopic).u32(number); }
inline Key job(std::uint64_t number) { return Key(Space::kJob).u64(number); }
inline Key payload(std::uint64_t number) { return Key(Space::kPayload).u64(number); }
inline Key active(std::uint64_t number) { return Key(Space::kActive).u64(number); }
inline Key job_id(const JobId& id) { return Key(Space::kJobId).raw(id.raw()); }

struct Ready {
  std::uint32_t queue = 0;
  std::uint32_t topic = 0;
  std::uint8_t priority = 0;  // 0 to 9; 9 comes first
  std::uint64_t number = 0;   // given when the job became ready; it only grows
  bool operator==(const Ready&) const = default;
};
Key ready(const Ready& at);

struct Delayed {
  WallTime due;
  std::uint64_t job = 0;
  bool operator==(const Delayed&) const = default;
};
inline Key delayed(const Delayed& at) { return Key(Space::kDelayed).time(at.due).u64(at.job); }

struct History {
  std::uint32_t queue = 0;
  WallTime end;
  std::uint64_t job = 0;
  bool operator==(const History&) const = default;
};
inline Key history(const History& at) {
  return Key(Space::kHistory).u32(at.queue).time(at.end).u64(at.job);
}

std::optional<std::uint32_t> parse_topic(BytesView key);
std::optional<std::uint64_t> parse_job(BytesView key);
std::optional<std::uint64_t> parse_payload(BytesView key);
std::optional<std::uint64_t> parse_active(BytesView key);
std::optional<JobId> parse_job_id(BytesView key);
std::optional<Ready> parse_ready(BytesView key);
std::optional<Delayed> parse_delayed(BytesView key);
std::optional<History> parse_history(BytesView key);

}  // namespace headrace::keys
