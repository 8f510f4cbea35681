#include "core/event/event_id.h"

namespace headrace {
namespace {

// Spreads each bit over all others (the finalizer of splitmix64).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ x >> 27) * 0x94D049BB133111EBULL;
  return x ^ x >> 31;
}

}  // namespace

EventId event_id(NodeId publisher, Incarnation incarnation, std::uint64_t seq) {
  const auto life = mix(publisher.high() ^ mix(publisher.low() ^ mix(incarnation)));
  return EventId::from_halves(life, seq);
}

}  // namespace headrace
