#include "transport/routing_id.h"

#include <sys/random.h>

#include <algorithm>

#include "core/base/check.h"

namespace headrace::transport {

RoutingId RoutingId::peer(const NodeId& node, std::uint32_t number) {
  RoutingId id;
  id.bytes_[0] = kPeer;
  const auto raw = node.raw();
  std::copy(raw.begin(), raw.end(), id.bytes_.begin() + 1);
  for (std::size_t i = 0; i < sizeof(number); ++i) {
    id.bytes_[kBytes - 1 - i] = static_cast<char>(number >> 8 * i);
  }
  return id;
}

RoutingId RoutingId::new_client() {
  RoutingId id;
  // Up to 256 bytes come whole or not at all.
  HEADRACE_CHECK(getrandom(id.bytes_.data(), kBytes, 0) == static_cast<long>(kBytes));
  id.bytes_[0] = kClient;
  return id;
}

std::optional<NodeId> RoutingId::node() const {
  if (bytes_[0] != kPeer) return {};
  return NodeId::from_raw(raw().substr(1));
}

std::optional<RoutingId> RoutingId::parse(BytesView raw) {
  constexpr std::size_t kGivenBytes = 5;  // of an id that libzmq makes
  if (raw.size() == kGivenBytes && raw[0] == '\0') return nameless();
  if (raw.size() != kBytes || (raw[0] != kPeer && raw[0] != kClient)) return {};
  RoutingId id;
  std::copy(raw.begin(), raw.end(), id.bytes_.begin());
  return id;
}

}  // namespace headrace::transport
