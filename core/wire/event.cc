#include "core/wire/event.h"

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {



char* put_big_endian(char* at, unsigned char tag, std::uint64_t value, unsigned bytes) {
  *at++ = static_cast<char>(tag);
  for (unsigned i = bytes; i > 0; --i) *at++ = static_cast<char>(value >> (8 * (i - 1)));
  return at;
}

char* put_number(char* at, std::uint64_t value) {
  if (value < 128) {
    *at = static_cast<char>(value);
    return at + 1;
  }
  if (value <= UINT8_MAX) return put_big_endian(at, 0xcc, value, 1);
  if (value <= UINT16_MAX) return put_big_endian(at, 0xcd, value, 2);
  if (value <= UINT32_MAX) return put_big_endian(at, 0xce, value, 4);
  return put_big_endian(at, 0xcf, value, 8);
}

char* put_time(char* at, WallTime time) {
  const auto micros = time.time_since_epoch().count();
  if (micros >= 0) return put_number(at, static_cast<std::uint64_t>(micros));
  return put_big_endian(at, 0xd3, static_cast<std::uint64_t>(micros), 8);
}

// The head of bytes whose tags for sizes of 1, 2 and 4 bytes follow one another.
char* put_size(char* at, unsigned char tag, std::size_t size) {
  if (size <= UINT8_MAX) return put_big_endian(at, tag, size, 1);
  if (size <= UINT16_MAX) return put_big_endian(at, static_cast<unsigned char>(tag + 1), size, 2);
  return put_big_endian(at, static_cast<unsigned char>(tag + 2), size, 4);
}

char* put_text_size(char* at, std::size_t size) {
  if (size >= 32) return put_size(at, 0xd9, size);
  *at = static_cast<char>(0xa0 | size);
  return at + 1;
}

char* put_bin_size(char* at, std::size_t size) { return put_size(at, 0xc4, size); }

unsigned read_depth(Reader& in) { return static_cast<unsigned>(in.u64(limits::kTopicWords)); }

}  // namespace

// Written for each event and destination, hence without a call for each field: what lies between
// topic, parameters and payload is put together on the stack.
void encode(Bytes& out, const Event& event) {
  char small[64];
  char* at = small;
  *at++ = static_cast<char>(0x90 | kEventFields);
  at = put_number(at, number(Kind::kEvent));
  at = put_number(at, event.seq);
  at = put_time(at, event.time);
  at = put_text_size(at, event.topic.size());
  out.append(small, at).append(event.topic);
  at = put_number(small, event.depth);
  at = put_bin_size(at, event.params.size());
  out.append(small, at).append(event.params);
  at = put_bin_size(small, event.payload.size());
  out.append(small, at).append(event.payload);
  at = put_number(small, event.blob);
  out.append(small, at);
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
