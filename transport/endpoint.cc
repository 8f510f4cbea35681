#include "transport/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "core/base/limits.h"

namespace headrace::transport {

namespace {

constexpr std::string_view kScheme = "tcp://";

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

constexpr std::size_t kZoneBytes = 15;  // of an interface's name

// With a zone only if it is link-local: there the address alone does not say which link.
bool is_ipv6_address(const std::string& host) {
  in6_addr address{};
  const auto percent = host.find('%');
  if (inet_pton(AF_INET6, host.substr(0, percent).c_str(), &address) != 1) return false;
  if (percent == std::string::npos) return true;
  const auto zone = host.substr(percent + 1);
  const auto in_zone = [](char c) { return c > ' ' && c < 0x7F && c != '%' && c != '/'; };
  return IN6_IS_ADDR_LINKLOCAL(&address) && !zone.empty() && zone.size() <= kZoneBytes &&
         std::all_of(zone.begin(), zone.end(), in_zone);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view host) {
  if (host.empty()) return false;
  if (!is_letter(host.front()) && !is_digit(host.front())) return false;
  const auto in_name = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  };
  // Digits and dots only would be a mistyped IPv4 address: no top-level domain is a number.
  return std::all_of(host.begin(), host.end(), in_name) &&
         std::any_of(host.begin(), host.end(), is_letter);
}

tl::unexpected<Error> invalid(std::string_view text, std::string_view why) {
  constexpr std::size_t kShown = 80;
  std::string message = "endpoint \"" + std::string(text.substr(0, kShown));
  message.append(text.size() > kShown ? "...\" " : "\" ").append(why);
  return fail(Code::kInvalid, message +
                                  ": write it as tcp://127.0.0.1:7420, tcp://[::1]:7420 or "
                                  "tcp://name:7420");
}

bool parse_port(std::string_view text, std::uint16_t& port) {
  if (text == "*") {
    port = 0;
    return true;
  }
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, port);
  return error == std::errc{} && at == end && is_digit(text.front());
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view text) {
  if (text.size() > limits::kEndpointBytes) {
    return invalid(text, "is longer than " + std::to_string(limits::kEndpointBytes) + " bytes");
  }
  if (text.substr(0, kScheme.size()) != kScheme) return invalid(text, "does not begin with tcp://");
  const auto rest = text.substr(kScheme.size());
  const auto colon = rest.rfind(':');
  // A colon within brackets belongs to the address.
  if (colon == std::string_view::npos || rest.find(']', colon) != std::string_view::npos) {
    return invalid(text, "has no port");
  }
  Endpoint endpoint;
  if (!parse_port(rest.substr(colon + 1), endpoint.port)) {
    return invalid(text, "has a port that is neither 0 to 65535 nor *");
  }
  const auto host = rest.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    endpoint.host = host.substr(1, host.size() - 2);
    if (!is_ipv6_address(endpoint.host)) return invalid(text, "has no IPv6 address in brackets");
    return endpoint;
  }
  endpoint.host = host;
  if (is_ipv6_address(endpoint.host)) return invalid(text, "has an IPv6 address without brackets");
  if (host != "*" && !is_ipv4(endpoint.host) && !is_name(host)) {
    return invalid(text, "has a host that is neither an address nor a name");
  }
  return endpoint;
}

std::string Endpoint::text() const {
  std::string text(kScheme);
  text += is_ipv6() ? "[" + host + "]" : host;
  return text + ":" + (port == 0 ? "*" : std::to_string(port));
}

bool Endpoint::is_numeric() const { return is_ipv4(host) || is_ipv6_address(host); }

bool Endpoint::is_wildcard() const {
  if (host == "*" || host == "0.0.0.0") return true;
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1 && IN6_IS_ADDR_UNSPECIFIED(&address);
}

bool Endpoint::is_loopback() const {
  if (host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

Result<void> check_dialable(const Endpoint& endpoint) {
  if (endpoint.is_wildcard()) {
    return fail(Code::kInvalid, "endpoint \"" + endpoint.text() +
                                    "\" names all interfaces, which can be listened on but not "
                                    "dialled: give one address of that node");
  }
  if (endpoint.port == 0) {
    return fail(Code::kInvalid, "endpoint \"" + endpoint.text() +
                                    "\" has no port to dial: give the port that the node printed");
  }
  return {};
}

}  // namespace headrace::transport
