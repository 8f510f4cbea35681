#include "core/wire/beacon.h"

#include <catch2/catch.hpp>

using namespace headrace;
using namespace headrace::wire;

namespace {

BeaconPacket packet() { return {7, NodeId::from_halves(1, 2), Bytes(32, 'k'), "10.0.0.1", 7420}; }

Bytes encoded(const BeaconPacket& packet) {
  Bytes bytes;
  encode(bytes, packet);
  return bytes;
}

}  // namespace

TEST_CASE("a beacon is read as it was written") {
  const auto read = decode_beacon(encoded(packet()));
  REQUIRE(read);
  CHECK(read->cluster == 7);
  CHECK(read->node == NodeId::from_halves(1, 2));
  CHECK(read->key == Bytes(32, 'k'));
  CHECK(read->host == "10.0.0.1");
  CHECK(read->port == 7420);
}

TEST_CASE("a beacon cut short anywhere, or with something behind it, is none") {
  const auto whole = encoded(packet());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(decode_beacon(BytesView(whole).substr(0, size)));
  }
  CHECK_FALSE(decode_beacon(whole + '\0'));
}

TEST_CASE("a beacon without a node, a port or a whole key is none") {
  auto nobody = packet();
  nobody.node = {};
  CHECK_FALSE(decode_beacon(encoded(nobody)));
  auto nowhere = packet();
  nowhere.port = 0;
  CHECK_FALSE(decode_beacon(encoded(nowhere)));
  for (const std::size_t size : {0, 31, 33}) {
    auto odd = packet();
    odd.key.assign(size, 'k');
    CHECK_FALSE(decode_beacon(encoded(odd)));
  }
}

TEST_CASE("a host of 64 bytes is read, one more is not") {
  auto longest = packet();
  longest.host.assign(64, 'h');
  CHECK(decode_beacon(encoded(longest)));
  longest.host += 'h';
  CHECK_FALSE(decode_beacon(encoded(longest)));
}

TEST_CASE("a beacon of another version or another make is passed over") {
  const auto good = encoded(packet());  // array of 7, "HRB", 1, ...
  REQUIRE(good.substr(0, 6) == Bytes("\x97\xa3HRB\x01", 6));
  auto newer = good;
  newer[5] = 2;
  CHECK_FALSE(decode_beacon(newer));
  auto other = good;
  other[4] = 'C';
  CHECK_FALSE(decode_beacon(other));
}

TEST_CASE("a datagram larger than a beacon is not looked at") {
  Bytes large = encoded(packet());
  large[0] = static_cast<char>(0x98);  // one field more
  Bytes field;
  const auto room = kBeaconBytes - large.size();
  Writer(field).bin(Bytes(room - 3, 'x'));
  REQUIRE(field.size() == room);
  CHECK(decode_beacon(large + field));
  Bytes more;
  Writer(more).bin(Bytes(room - 2, 'x'));
  CHECK_FALSE(decode_beacon(large + more));
}
