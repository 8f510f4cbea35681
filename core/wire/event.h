// The messages of events between a publisher and a destination. Structs of views: they live as long
// as the frame. Each encode() appends one whole message; each decode() reads what follows the kind,
// and a failure latches in the Reader. Events travel in frames of events (event_frame.h).
//
// Topics come out unchecked: LocalRegistrations does that once for each that is new.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/wire/codec.h"

namespace headrace::wire {

// Data lane. A payload of up to limits::kChunkBytes travels inside; a larger one in blobs before
// it.
struct Event {
  std::uint64_t seq = 0;  // counts the publisher's events
  WallTime time;
  BytesView topic;
  unsigned depth = 0;  // delivered depth, see EventRouter
  BytesView params;    // encoded; empty for none
  BytesView payload;
  std::uint64_t blob = 0;  // 0: the payload is here

  bool operator==(const Event&) const = default;
};
inline constexpr std::size_t kEventFields = 8;  // with the kind
void encode(Bytes& out, const Event& event);
bool decode(Reader& in, Event& event);

// Control lane: the receiver offered an event of that topic and depth to nobody. `version` is that
// of its advert of registrations, so that a publisher with a newer one takes no harm.
struct EventGone {
  BytesView topic;
  unsigned depth = 0;
  std::uint64_t version = 0;

  bool operator==(const EventGone&) const = default;
};
void encode(Bytes& out, const EventGone& gone);
bool decode(Reader& in, EventGone& gone);

}  // namespace headrace::wire
