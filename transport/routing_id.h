// Who a ROUTER says a frame came from: 21 bytes, 0x01 + NodeId + a number of its own for each of a
// peer's DEALERs, 0x02 + 20 random bytes for a client's; or nameless. A plain value; any thread.
//
// The number is there because a ROUTER that meets a name again hands it to the newer connection
// (HANDOVER), and what it had not read yet from the older one may be lost, or comes out under an id
// of libzmq's making, which begins with a zero byte. That still happens when libzmq redials by
// itself, hence nameless.
//
// It is a claim, not a proof: a peer is known by the head of its frames; a client, which binds
// nothing, is answered through its routing id.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace headrace::transport {

class RoutingId final {
 public:
  static constexpr std::size_t kBytes = 21;

  static RoutingId peer(const NodeId& node, std::uint32_t number);
  // A client's id from the system's random numbers.
  static RoutingId new_client();
  static RoutingId nameless() { return RoutingId(); }
  // Nothing for an id of another make.
  static std::optional<RoutingId> parse(BytesView raw);

  // Whose DEALER it is; nothing for a client or a nameless one.
  std::optional<NodeId> node() const;
  bool is_client() const { return bytes_[0] == kClient; }
  BytesView raw() const { return {bytes_.data(), bytes_.size()}; }

  auto operator<=>(const RoutingId&) const = default;

 private:
  static constexpr char kPeer = 1;
  static constexpr char kClient = 2;

  RoutingId() = default;

  std::array<char, kBytes> bytes_{};
};

}  // namespace headrace::transport

template <>
struct std::hash<headrace::transport::RoutingId> {
  std::size_t operator()(const headrace::transport::RoutingId& id) const noexcept {
    return std::hash<headrace::BytesView>{}(id.raw());
  }
};
