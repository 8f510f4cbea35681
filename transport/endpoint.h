// Where a socket listens or whom it dials: tcp://host:port. A plain value; any thread.
//
// The host is an IPv4 address, an IPv6 address in brackets (a link-local one with its interface:
// tcp://[fe80::1%eth0]:7420), a name (left to libzmq to resolve), or
// `*` for all interfaces. Port 0, also written `*`, means "a free one". Both only make sense for
// listening. Text longer than limits::kEndpointBytes or anything else is kInvalid; the error names
// the text and the way out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace headrace::transport {

struct Endpoint {
  std::string host{};      // without brackets
  std::uint16_t port = 0;  // 0: a free one
  // Of a name that is dialled: its IPv6 address, if it has one, else only its IPv4 address.
  bool name_is_ipv6 = false;

  static Result<Endpoint> parse(std::string_view text);
  // tcp://host:port, as parse takes it; a port 0 is written `*`, as libzmq wants it.
  std::string text() const;

  bool is_ipv6() const { return host.find(':') != std::string::npos; }
  // An address, not a name that has to be looked up.
  bool is_numeric() const;
  // All interfaces: `*`, 0.0.0.0 or ::.
  bool is_wildcard() const;
  // Reached from this machine only: 127.0.0.0/8, ::1 or localhost.
  bool is_loopback() const;

  bool operator==(const Endpoint&) const = default;
};

// kInvalid for what can be listened on but not dialled: a wildcard host, port 0.
Result<void> check_dialable(const Endpoint& endpoint);

}  // namespace headrace::transport
