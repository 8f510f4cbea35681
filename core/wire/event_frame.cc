#include "core/wire/event_frame.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

constexpr char kBin32 = static_cast<char>(0xc6);
constexpr std::size_t kSizeBytes = 4;

}  // namespace

std::size_t open_event_frame(Bytes& out) {
  Writer(out).array(3).u64(number(Kind::kEventFrame));
  out.push_back(kBin32);
  out.append(kSizeBytes, '\0');
  return out.size();
}

void close_event_frame(Bytes& out, std::size_t begin, const LaneHead& lane) {
  HEADRACE_CHECK(out.size() - begin == lane.size);
  for (std::size_t i = 0; i < kSizeBytes; ++i) {
    out[begin - 1 - i] = static_cast<char>(lane.size >> (8 * i));
  }
  Writer writer(out);
  encode(writer, lane);
}

bool decode(Reader& in, EventFrame& frame) {
  frame.events = in.bin(limits::kFrameBytes);
  decode(in, frame.lane);
  if (frame.lane.size != frame.events.size()) in.fail();
  return in.ok();
}

}  // namespace headrace::wire
