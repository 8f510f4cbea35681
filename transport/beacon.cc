#include "transport/beacon.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/wire/beacon.h"

namespace headrace::transport {

namespace {

constexpr in_addr_t kGroup = 0xEFFF4A14;  // 239.255.74.20: of the scope that an organisation keeps
constexpr int kReceiveBytes = 256 << 10;  // a flood is the kernel's to drop
constexpr int kStrangersAtOnce = 64;

template <typename T>
bool set(int fd, int level, int option, const T& value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

sockaddr_in address_of(in_addr_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = host;
  address.sin_port = htons(port);
  return address;
}

bool is_loopback(in_addr_t host) { return ntohl(host) >> 24 == 127; }

tl::unexpected<Error> failed(std::uint16_t port, int error) {
  const auto what = "no beacon at UDP port " + std::to_string(port) + ": ";
  if (error == EADDRINUSE) {
    return fail(Code::kInUse, what + "a program that does not share it holds it; give another");
  }
  return fail(Code::kFull, what + std::strerror(error));
}

}  // namespace

Result<Beacon> Beacon::open(std::uint16_t port, BeaconReach reach) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(port, errno);
  Beacon beacon(fd, port, reach);
  // REUSEADDR, not REUSEPORT: nodes of several users share the port.
  set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  set(fd, SOL_SOCKET, SO_BROADCAST, 1);
  set(fd, SOL_SOCKET, SO_RCVBUF, kReceiveBytes);
  // Not what other programs of this machine have joined.
  set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
  set(fd, IPPROTO_IP, IP_MULTICAST_TTL, 1);
  const auto any = address_of(INADDR_ANY, port);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    return failed(port, errno);
  }
  beacon.look_around();
  return beacon;
}

Beacon::Beacon(Beacon&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      port_(other.port_),
      reach_(other.reach_),
      interfaces_(std::move(other.interfaces_)),
      stats_(other.stats_) {}

Beacon::~Beacon() {
  if (fd_ >= 0) ::close(fd_);
}

bool Beacon::reaches(const Interface& interface) const {
  return interface.loopback == (reach_ == BeaconReach::kLoopback);
}

void Beacon::look_around() {
  auto found = interfaces();
  std::erase_if(found, [this](const Interface& one) { return !reaches(one); });
  for (const auto& interface : found) {
    const bool known =
        std::find(interfaces_.begin(), interfaces_.end(), interface) != interfaces_.end();
    if (known || !interface.multicast) continue;
    ip_mreqn join{};
    join.imr_multiaddr.s_addr = htonl(kGroup);
    join.imr_address.s_addr = interface.address;
    join.imr_ifindex = static_cast<int>(interface.index);
    // Fails if another address of it has joined already: then it has.
    set(fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, join);
  }
  interfaces_ = std::move(found);
}

void Beacon::send_to(BytesView packet, in_addr_t to) {
  const auto address = address_of(to, port_);
  const auto sent = ::sendto(fd_, packet.data(), packet.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ++(sent < 0 ? stats_.unsent : stats_.sent);
}

void Beacon::send(BytesView packet) {
  for (const auto& interface : interfaces_) {
    if (interface.multicast) {
      ip_mreqn from{};
      from.imr_address.s_addr = interface.address;
      from.imr_ifindex = static_cast<int>(interface.index);
      set(fd_, IPPROTO_IP, IP_MULTICAST_IF, from);
      send_to(packet, htonl(kGroup));
    }
    if (interface.broadcast != 0) send_to(packet, interface.broadcast);
  }
}

std::optional<Beacon::Datagram> Beacon::take() {
  for (int looked = 0; looked < kStrangersAtOnce; ++looked) {
    std::array<char, wire::kBeaconBytes + 1> bytes{};
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const auto got =
        ::recvfrom(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    // The kernel lets no loopback address in from outside, so it is one of ours.
    if (is_loopback(from.sin_addr.s_addr) != (reach_ == BeaconReach::kLoopback)) {
      ++stats_.strangers;
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &from.sin_addr, text.data(), text.size());
    return Datagram{Bytes(bytes.data(), static_cast<std::size_t>(got)), text.data()};
  }
  return {};
}

}  // namespace headrace::transport
