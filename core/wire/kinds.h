// The numbers of all message kinds, in one place. Append only: they are part of the wire, and a kind that is no
// longer sent keeps its number.
//
// A message is a msgpack array [kind, fields...]; the fields of each kind are in the header beside this one that
// its group names, and in docs/PROTOCOL.md. A receiver counts kinds it does not know and skips them.
#pragma once

#include <cstdint>

namespace headrace::wire {

enum class Kind : std::uint8_t {
  // 1-19: membership

  // 20-39: windows

  // 40-69: jobs

  // 70-89: events (event.h)
  kEvent = 70,       // a whole event
  kEventStart = 71,  // the head of one whose payload follows in chunks
  kEventChunk = 72,  // a piece of that payload
  kEventGone = 73,   // receiver to publisher: no registration here for that topic
  kLaneState = 74,   // receiver to publisher: what passed, and how far the window reaches
  kLaneMark = 75,    // publisher to receiver: how many events were sent, so that a lost tail shows

  // 90-119: client calls
};

}  // namespace headrace::wire
