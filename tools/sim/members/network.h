// MemberNetwork: what becomes of a message between two members.
//
// Every message takes 0.2 to 1 ms, and one in a hundred up to 20 ms more, so messages overtake each
// other; that is harsher than the connections of a real node. Some are lost, as many as the
// scenario says. Between members that are cut apart all are. What a blocked member sends waits
// until it is free again, and so does what is sent to it; nothing of that is lost.
//
// A message counts as its bytes, the head of its frame, and what ZeroMQ, TCP and IP put before it
// when it travels alone: kOverhead in all. Acknowledgements of TCP are not counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/random.h"
#include "core/base/time.h"

namespace headrace::sim {

using Place = std::uint32_t;  // of a member in its world

struct MemberNetwork {
  // Head of a frame with the ids and incarnations of both ends: 65; ZMTP: 2; IP and TCP with time
  // stamps: 52.
  static constexpr std::uint64_t kOverhead = 65 + 2 + 52;

  explicit MemberNetwork(std::uint64_t seed) : random(seed) {}

  unsigned loss_percent = 0;
  std::function<bool(Place from, Place to)> cut;         // empty: nobody is
  std::function<MonoTime(Place, MonoTime now)> free_at;  // empty: nobody is blocked

  // When it arrives, if it does.
  std::optional<MonoTime> arrival(Place from, Place to, MonoTime now) {
    if (cut && cut(from, to)) return {};
    if (loss_percent > 0 && random.below(100) < loss_percent) return {};
    Nanos delay{random.between(200'000, 1'000'000)};
    if (random.below(100) == 0) delay += Nanos{random.between(0, 20'000'000)};
    return free(from, now) + delay;
  }
  // Now, or when it is no longer blocked.
  MonoTime free(Place place, MonoTime now) const { return free_at ? free_at(place, now) : now; }

  Random random;
};

}  // namespace headrace::sim
