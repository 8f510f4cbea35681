// Discovery: what a node does to find others that nobody told it of, and to learn at once of a
// process that is gone. The beacon says where this node is and hears where others are; a connection
// that ended makes it ask that address whether anybody still listens. What follows from either is
// the membership's to decide.
//
// Owned by the Loop and called by its thread; nothing blocks. A beacon that can't be opened is noted
// and tried again: a node without one is found by its seeds all the same.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/base/random.h"
#include "core/base/time.h"
#include "core/wire/beacon.h"
#include "transport/beacon.h"
#include "transport/knocker.h"

namespace headrace::runtime {

struct DiscoveryOptions {
  wire::BeaconPacket self;        // what it says
  std::uint16_t beacon_port = 0;  // 0: says and hears nothing
  transport::BeaconReach reach = transport::BeaconReach::kLoopback;
};

struct DiscoveryHooks {
  // A node of this cluster says that it is there, known or not.
  std::function<void(const NodeId& node, const std::string& endpoint)> heard;
  // Nobody listens at the address of this node any more.
  std::function<void(const NodeId& node)> refused;
  std::function<void(const std::string& text)> note;
};

struct DiscoveryStats {
  std::uint64_t malformed = 0;  // no beacons, or saying what can't be
  std::uint64_t others = 0;     // of other clusters
  std::uint64_t heard = 0;      // of this one, but for its own
};

class Discovery final {
 public:
  Discovery(DiscoveryOptions options, DiscoveryHooks hooks, std::uint64_t seed);

  void start(MonoTime now);
  void stop();  // says and asks nothing any more
  // A connection from `node` has ended, which is known at `endpoint`.
  void ended(const NodeId& node, const std::string& endpoint, MonoTime now);
  // One of fds() is readable.
  void ready() { ready_ = true; }
  // Once a turn. `live`: members, which sets the distance between beacons.
  void tick(MonoTime now, std::size_t live);
  // When tick() has something to do, or when one of fds() is readable. Negative ones are none.
  MonoTime next() const;
  std::array<int, 2> fds() const;

  unsigned said() const { return said_; }  // times that the beacon was sent
  const DiscoveryStats& stats() const { return stats_; }

 private:
  void open_beacon(MonoTime now);
  void say(MonoTime now, std::size_t live);
  void listen(MonoTime now);
  void take(const transport::Beacon::Datagram& datagram);

  const DiscoveryOptions options_;
  const DiscoveryHooks hooks_;
  Random random_;
  transport::Knocker knocker_;
  std::optional<transport::Beacon> beacon_;
  bool noted_ = false;  // that it can't be opened
  unsigned said_ = 0;
  MonoTime say_at_ = kNever;   // also: try to open it
  MonoTime look_at_ = kNever;  // at the interfaces
  double tokens_ = 0;          // for datagrams
  MonoTime filled_{};
  bool ready_ = false;
  bool deaf_ = false;  // until the tokens are filled again
  DiscoveryStats stats_;
};

}  // namespace headrace::runtime
