#include "core/wire/event.h"

#include <cstring>

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

// Everything of an encoded event but its byte strings, at most.
constexpr std::size_t kFieldBytes = 64;
constexpr std::size_t kSmallBytes = 512;  // of a payload: clearing its place costs less than a call

// Appends msgpack where there is room for it: for what is written for each event.
class Put final {
 public:
  explicit Put(char* at) : at_(at) {}

  char* end() const { return at_; }
  void byte(std::size_t value) { *at_++ = static_cast<char>(value); }
  void number(std::uint64_t value) {
    if (value < 128) return byte(value);
    if (value <= UINT8_MAX) return tagged(0xcc, static_cast<std::uint8_t>(value));
    if (value <= UINT16_MAX) return tagged(0xcd, static_cast<std::uint16_t>(value));
    if (value <= UINT32_MAX) return tagged(0xce, static_cast<std::uint32_t>(value));
    tagged(0xcf, value);
  }
  void time(WallTime time) {
    const auto micros = time.time_since_epoch().count();
    if (micros >= 0) return number(static_cast<std::uint64_t>(micros));
    tagged(0xd3, static_cast<std::uint64_t>(micros));
  }
  void text(BytesView value) {
    if (value.size() < 32) {
      byte(0xa0 | value.size());
    } else {
      size(0xd9, value.size());
    }
    raw(value);
  }
  void bin_size(std::size_t bytes) { size(0xc4, bytes); }
  void bin(BytesView value) {
    bin_size(value.size());
    raw(value);
  }
  void raw(BytesView value) {
    if (value.empty()) return;
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }

 private:
  template <typename T>
  void tagged(unsigned char tag, T value) {
    byte(tag);
    store_big_endian(at_, value);
    at_ += sizeof value;
  }
  // The tags for sizes of 1, 2 and 4 bytes follow one another.
  void size(unsigned char tag, std::size_t size) {
    if (size <= UINT8_MAX) return tagged(tag, static_cast<std::uint8_t>(size));
    ++tag;
    if (size <= UINT16_MAX) return tagged(tag, static_cast<std::uint16_t>(size));
    tagged(++tag, static_cast<std::uint32_t>(size));
  }
  char* at_;
};

unsigned read_depth(Reader& in) { return static_cast<unsigned>(in.u64(limits::kTopicWords)); }

}  // namespace

void encode(Bytes& out, const Event& event) {
  const auto before = out.size();
  const bool small = event.payload.size() <= kSmallBytes;
  out.resize(before + kFieldBytes + event.topic.size() + event.params.size() +
             (small ? event.payload.size() : 0));
  Put put(out.data() + before);
  put.byte(0x90 | kEventFields);
  put.number(number(Kind::kEvent));
  put.number(event.seq);
  put.time(event.time);
  put.text(event.topic);
  put.number(event.depth);
  put.bin(event.params);
  put.bin_size(event.payload.size());
  if (small) {
    put.raw(event.payload);
  } else {
    out.resize(static_cast<std::size_t>(put.end() - out.data()));
    out.append(event.payload).append(kFieldBytes, '\0');
    put = Put(out.data() + out.size() - kFieldBytes);
  }
  put.number(event.blob);
  out.resize(static_cast<std::size_t>(put.end() - out.data()));
}

bool decode(Reader& in, Event& event) {
  event.seq = in.u64();
  event.time = in.time();
  event.topic = in.text(limits::kTopicBytes);
  event.depth = read_depth(in);
  event.params = in.bin(limits::kParamsBytes);
  event.payload = in.bin(limits::kChunkBytes);
  event.blob = in.u64();
  if (event.blob != 0 && !event.payload.empty()) in.fail();
  return in.ok();
}

void encode(Bytes& bytes, const EventGone& gone) {
  Writer(bytes)
      .array(4)
      .u64(number(Kind::kEventGone))
      .text(gone.topic)
      .u64(gone.depth)
      .u64(gone.version);
}

bool decode(Reader& in, EventGone& gone) {
  gone.topic = in.text(limits::kTopicBytes);
  gone.depth = read_depth(in);
  gone.version = in.u64();
  return in.ok();
}

}  // namespace headrace::wire
