// The id of an event follows from who published it and the how-manieth it was, so it costs nothing
// on the wire.
#pragma once

#include <cstdint>

#include "core/base/ids.h"

namespace headrace {

// The same at both ends; different for any two events but for a collision of 64 mixed bits.
EventId event_id(NodeId publisher, Incarnation incarnation, std::uint64_t seq);

}  // namespace headrace
