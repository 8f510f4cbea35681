#include "transport/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <memory>

namespace headrace::transport {

namespace {

in_addr_t ipv4(const sockaddr* address) {
  if (address == nullptr || address->sa_family != AF_INET) return 0;
  return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr;
}

// Loopback has none by flag, and answers at the last address of its net all the same.
in_addr_t broadcast_of(const ifaddrs& at) {
  if ((at.ifa_flags & IFF_LOOPBACK) != 0) return ipv4(at.ifa_addr) | ~ipv4(at.ifa_netmask);
  return (at.ifa_flags & IFF_BROADCAST) != 0 ? ipv4(at.ifa_broadaddr) : 0;
}

}  // namespace

std::vector<Interface> interfaces() {
  std::vector<Interface> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  for (const auto* at = first; at != nullptr; at = at->ifa_next) {
    if ((at->ifa_flags & IFF_UP) == 0 || ipv4(at->ifa_addr) == 0) continue;
    Interface interface;
    interface.index = ::if_nametoindex(at->ifa_name);
    interface.loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
    // The flag is not set on loopback, which carries multicast all the same.
    interface.multicast = interface.loopback || (at->ifa_flags & IFF_MULTICAST) != 0;
    interface.address = ipv4(at->ifa_addr);
    interface.broadcast = broadcast_of(*at);
    if (interface.index != 0) found.push_back(interface);
  }
  return found;
}

}  // namespace headrace::transport
