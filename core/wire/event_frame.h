// A frame's worth of events as one message, so that a receiver passes it on, and locks for it, once
// and not for each event: [kEventFrame, events, LaneHead]. `events` is msgpack bin that holds
// kEvent messages, and the kBlob pieces ahead of those whose payload is large, back to back.
//
// Written in place: open, append the messages, close. The place in the lane's window follows the
// events because their size is known only then; it counts the bytes of `events`.
#pragma once

#include <cstddef>

#include "core/base/bytes.h"
#include "core/wire/codec.h"
#include "core/wire/window.h"

namespace headrace::wire {

struct EventFrame {
  BytesView events;
  LaneHead lane;
};

// Returns where the events begin, for close_event_frame().
std::size_t open_event_frame(Bytes& out);
// `lane.size` must be what was appended since.
void close_event_frame(Bytes& out, std::size_t begin, const LaneHead& lane);
bool decode(Reader& in, EventFrame& frame);

}  // namespace headrace::wire
