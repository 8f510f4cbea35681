#include "core/wire/event.h"

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

unsigned read_depth(Reader& in) { return static_cast<unsigned>(in.u64(limits::kTopicWords)); }

}  // namespace

void encode(Bytes& bytes, const Event& event) {
  Writer out(bytes);
  out.array(8)
      .u64(number(Kind::kEvent))
      .u64(event.seq)
      .time(event.time)
      .text(event.topic)
      .u64(event.depth);
  out.bin(event.params).bin(event.payload).u64(event.blob);
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
