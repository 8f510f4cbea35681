// What a node says by UDP to whoever may be near: which cluster it is of, and where to say hello.
// Nothing secret, and nothing to be believed: whoever hears it says hello there and learns the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/wire/codec.h"

namespace headrace::wire {

// The most that is sent or looked at.
inline constexpr std::size_t kBeaconBytes = 512;

struct BeaconPacket {
  std::uint64_t cluster = 0;  // cluster_hash of the name
  NodeId node;
  Bytes key;               // the node's public key, 32 bytes
  std::string host;        // a numeric address; empty: where the packet came from
  std::uint16_t port = 0;  // of the control endpoint
};

void encode(Bytes& out, const BeaconPacket& packet);
// Nothing for what is no beacon, or one of another version.
std::optional<BeaconPacket> decode_beacon(BytesView bytes);

}  // namespace headrace::wire
