// The network interfaces of this machine, as they are now. Any thread.
#pragma once

#include <netinet/in.h>

#include <vector>

namespace headrace::transport {

// One IPv4 address of an interface that is up.
struct Interface {
  unsigned index = 0;
  bool loopback = false;
  bool multicast = false;
  in_addr_t address = 0;    // network order
  in_addr_t broadcast = 0;  // 0: none
  bool operator==(const Interface&) const = default;
};

// Empty if the kernel does not say.
std::vector<Interface> interfaces();

}  // namespace headrace::transport
