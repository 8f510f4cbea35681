// The sockets of the beacon: one datagram to all who are near, and theirs back.
//
// IPv4, multicast to 239.255.74.20 and broadcast, on each interface: some networks carry only one of
// them. Many nodes of one machine share the port, each hears all, itself too. On loopback nothing
// leaves the machine and nothing from outside is taken; on the LAN loopback is left out, so that an
// address that only this machine can dial is not told to others.
//
// Owned and called by one thread; nothing blocks. What a send means: no more than that it was tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "transport/interfaces.h"

namespace headrace::transport {

inline constexpr std::uint16_t kBeaconPort = 7420;

enum class BeaconReach : std::uint8_t { kLoopback, kLan };

struct BeaconStats {
  std::uint64_t sent = 0;       // datagrams, to each interface one or two
  std::uint64_t unsent = 0;     // refused by the kernel: no route, a full queue
  std::uint64_t strangers = 0;  // dropped: from where this beacon does not reach
};

class Beacon final {
 public:
  // kInUse: a program that does not share holds the port. kFull: no descriptor is left.
  static Result<Beacon> open(std::uint16_t port, BeaconReach reach);
  ~Beacon();
  Beacon(Beacon&& other) noexcept;
  Beacon& operator=(Beacon&&) = delete;

  // Readable when take() has something.
  int fd() const { return fd_; }

  // Reads anew which interfaces there are. open() does it; call it now and then.
  void look_around();
  void send(BytesView packet);

  struct Datagram {
    Bytes bytes;         // at most wire::kBeaconBytes and one more
    std::string source;  // the numeric address it came from
  };
  // The next one that waits; nothing if none does.
  std::optional<Datagram> take();

  const std::vector<Interface>& reached() const { return interfaces_; }
  const BeaconStats& stats() const { return stats_; }

 private:
  Beacon(int fd, std::uint16_t port, BeaconReach reach) : fd_(fd), port_(port), reach_(reach) {}
  bool reaches(const Interface& interface) const;
  void send_to(BytesView packet, in_addr_t to);

  int fd_;
  std::uint16_t port_;
  BeaconReach reach_;
  std::vector<Interface> interfaces_;
  BeaconStats stats_;
};

}  // namespace headrace::transport
