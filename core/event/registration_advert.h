// What the others know of a node's registrations: for each topic or pattern whether any stand
// there, and of which sort. How many they are and what they do stays at home, so an advert changes
// only when the answer of the topic tree may.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/wire/codec.h"

namespace headrace {

struct Interest {
  std::string topic;   // of a topic or a pattern
  bool plain = false;  // at least one registration without the sink flag
  bool sink = false;   // at least one with it

  bool operator==(const Interest&) const = default;
};

// At most limits::kRegistrations interests, by topic in byte order, each once and with a flag set.
struct RegistrationAdvert {
  std::uint64_t version = 0;  // grows with each change within one incarnation of the node
  std::vector<Interest> interests;

  bool operator==(const RegistrationAdvert&) const = default;
};

// One msgpack value. Decoding latches what does not fit in the Reader; whether each topic is valid
// shows when the advert is given to a router.
void encode(wire::Writer& out, const RegistrationAdvert& advert);
void decode(wire::Reader& in, RegistrationAdvert& advert);

}  // namespace headrace
