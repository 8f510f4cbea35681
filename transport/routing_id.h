// Who a ROUTER says a frame came from: 17 bytes, 0x01 + NodeId for a peer's DEALER, 0x02 + 16
// random bytes for a client's. A plain value; any thread.
//
// It is a claim, not a proof. A peer is known by the head of its frames; a client, which binds
// nothing, is answered through its routing id. libzmq keeps a leading zero byte for ids of its own
// making.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace headrace::transport {

class RoutingId final {
 public:
  static constexpr std::size_t kBytes = 17;

  static RoutingId peer(const NodeId& node) { return RoutingId(kPeer, node.raw()); }
  static RoutingId client(const Id128<struct ClientTag>& random) {
    return RoutingId(kClient, random.raw());
  }
  // A client's id from the system's random numbers.
  static RoutingId new_client();
  // Nothing unless it is one of the two kinds.
  static std::optional<RoutingId> parse(BytesView raw);

  bool is_client() const { return bytes_[0] == kClient; }
  // The node a peer claims to be; for a client its random bytes.
  NodeId node() const { return NodeId::from_raw(raw().substr(1)); }
  BytesView raw() const { return {bytes_.data(), bytes_.size()}; }

  auto operator<=>(const RoutingId&) const = default;

 private:
  static constexpr char kPeer = 1;
  static constexpr char kClient = 2;

  RoutingId(char kind, BytesView id);

  std::array<char, kBytes> bytes_;
};

}  // namespace headrace::transport

template <>
struct std::hash<headrace::transport::RoutingId> {
  std::size_t operator()(const headrace::transport::RoutingId& id) const noexcept {
    return std::hash<headrace::BytesView>{}(id.raw());
  }
};
