#include "core/wire/beacon.h"

namespace headrace::wire {

namespace {

constexpr std::string_view kMagic = "HRB";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 7;
constexpr std::size_t kFieldsMax = 64;  // newer versions append
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kHostBytes = 64;  // a numeric address with its zone

}  // namespace

void encode(Bytes& out, const BeaconPacket& packet) {
  Writer(out)
      .array(kFields)
      .text(kMagic)
      .u64(kVersion)
      .u64(packet.cluster)
      .id(packet.node)
      .bin(packet.key)
      .text(packet.host)
      .u64(packet.port);
}

std::optional<BeaconPacket> decode_beacon(BytesView bytes) {
  if (bytes.size() > kBeaconBytes) return {};
  Reader in(bytes);
  const auto fields = in.array(kFieldsMax);
  if (fields < kFields || in.text(kMagic.size()) != kMagic || in.u64() != kVersion) return {};
  BeaconPacket packet;
  packet.cluster = in.u64();
  packet.node = in.id<NodeId>();
  packet.key = in.bin(kKeyBytes);
  packet.host = in.text(kHostBytes);
  packet.port = static_cast<std::uint16_t>(in.u64(UINT16_MAX));
  for (auto i = kFields; i < fields && in.ok(); ++i) in.skip();
  const bool whole = in.ok() && in.at_end();
  if (!whole || packet.key.size() != kKeyBytes || packet.node.is_zero() || packet.port == 0) {
    return {};
  }
  return packet;
}

}  // namespace headrace::wire
