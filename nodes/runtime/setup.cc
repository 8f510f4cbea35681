#include "nodes/runtime/setup.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "core/wire/frame.h"
#include "transport/beacon.h"

namespace headrace::runtime {

namespace {

tl::unexpected<Error> invalid(const std::string& what, const std::string& rule) {
  return fail(Code::kInvalid, what + ": " + rule);
}

// Names stand in one line among others, so they hold no white space.
Result<void> check_word(const std::string& what, std::string_view text) {
  const auto described = what + " " + shown(text);
  if (text.empty()) return invalid(described, "give at least one character");
  if (text.size() > limits::kNameBytes) {
    return invalid(described, "it has " + std::to_string(text.size()) + " bytes; at most " +
                                  std::to_string(limits::kNameBytes) + " are allowed");
  }
  for (auto rest = text; !rest.empty();) {
    const auto point = take_code_point(rest);
    if (point == kBadUtf8) return invalid(described, "it is not UTF-8");
    if (point <= ' ' || (point >= 0x7F && point <= 0xA0)) {
      return invalid(described, "it holds white space or a control character; leave it out");
    }
  }
  return {};
}

Result<void> check_tags(const std::map<std::string, std::string>& tags) {
  if (tags.size() > limits::kTags) {
    return invalid("tags", std::to_string(tags.size()) + " were given; at most " +
                               std::to_string(limits::kTags) + " are allowed");
  }
  std::size_t bytes = 0;
  for (const auto& [key, value] : tags) {
    if (auto good = check_word("the tag", key); !good) return good;
    if (!is_utf8(value)) return invalid("the tag " + shown(key), "its value is not UTF-8");
    bytes += key.size() + value.size();
  }
  if (bytes > limits::kTagsBytes) {
    return invalid("tags", "they take " + std::to_string(bytes) + " bytes; at most " +
                               std::to_string(limits::kTagsBytes) + " are allowed");
  }
  return {};
}

Result<void> check_dialled(const std::string& what, const std::string& text) {
  const auto endpoint = transport::Endpoint::parse(text);
  if (!endpoint) return fail(endpoint.error().code, what + ": " + endpoint.error().message);
  if (auto good = transport::check_dialable(*endpoint); !good) {
    return fail(good.error().code, what + ": " + good.error().message);
  }
  return {};
}

Result<void> check_peers(const NodeOptions& options) {
  if (options.join.size() > limits::kSeeds) {
    return invalid("join", std::to_string(options.join.size()) + " endpoints were given; at most " +
                               std::to_string(limits::kSeeds) + " are allowed");
  }
  for (const auto& endpoint : options.join) {
    if (auto good = check_dialled("join", endpoint); !good) return good;
  }
  return options.owner.empty() ? Result<void>{} : check_dialled("owner", options.owner);
}

Result<transport::Endpoint> check_listen(const NodeOptions& options) {
  if (options.listen.empty()) return transport::Endpoint{options.lan ? "*" : "127.0.0.1", 0};
  auto endpoint = transport::Endpoint::parse(options.listen);
  if (!endpoint) return fail(endpoint.error().code, "listen: " + endpoint.error().message);
  return endpoint;
}

Result<void> check_reach(const NodeOptions& options, const transport::Endpoint& listen) {
  if (options.lan && !listen.is_wildcard()) {
    return invalid("listen " + listen.text(),
                   "with lan a node listens on all interfaces; leave "
                   "one of them out");
  }
  if (listen.is_loopback() || options.insecure) return {};
  if (options.lan) {
    return fail(Code::kForbidden,
                "will not open to the network: nodes there will share a secret, which this version "
                "does not have yet; where whoever reaches it may read and change everything, ask "
                "for that with insecure (--insecure)");
  }
  return fail(Code::kForbidden,
              "will not listen on " + listen.text() +
                  ": whoever reaches it could read and change everything; "
                  "listen on 127.0.0.1, or ask for it with insecure (--insecure)");
}

// A node that listens elsewhere was given its place by hand, and so are those that join it.
Result<std::uint16_t> beacon_port(const NodeOptions& options, const transport::Endpoint& listen) {
  if (!options.beacon || !(options.lan || listen.is_loopback())) return std::uint16_t{0};
  if (options.beacon_port != 0) return options.beacon_port;
  const char* named = std::getenv("HEADRACE_BEACON");
  const std::string_view text = named != nullptr ? named : "";
  if (text.empty()) return transport::kBeaconPort;
  if (text == "off") return std::uint16_t{0};
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc{} && end == text.data() + text.size() && port != 0) return port;
  return invalid("HEADRACE_BEACON " + shown(text), "give a port from 1 to 65535, or off");
}

}  // namespace

Result<Setup> make_setup(NodeOptions options, InternalOptions internal) {
  if (!options.name.empty()) {
    if (auto good = check_word("the name", options.name); !good) return fail(good.error());
  }
  if (auto good = check_word("the cluster", options.cluster); !good) return fail(good.error());
  if (auto good = check_tags(options.tags); !good) return fail(good.error());
  if (auto good = check_peers(options); !good) return fail(good.error());
  auto listen = check_listen(options);
  if (!listen) return fail(listen.error());
  if (auto good = check_reach(options, *listen); !good) return fail(good.error());
  const auto beacon = beacon_port(options, *listen);
  if (!beacon) return fail(beacon.error());
  Setup setup;
  setup.beacon_port = *beacon;
  setup.cluster = wire::cluster_hash(options.cluster);
  setup.listen = std::move(*listen);
  setup.options = std::move(options);
  setup.internal = std::move(internal);
  return setup;
}

transport::Endpoint reachable(const transport::Endpoint& bound) {
  if (!bound.is_wildcard()) return bound;
  transport::Endpoint found{"127.0.0.1", bound.port};
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  for (const auto* at = first; at != nullptr; at = at->ifa_next) {
    const bool wanted = at->ifa_addr != nullptr && at->ifa_addr->sa_family == AF_INET &&
                        (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0;
    if (!wanted) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size()) == nullptr) continue;
    found.host = text.data();
    break;
  }
  return found;
}

}  // namespace headrace::runtime
