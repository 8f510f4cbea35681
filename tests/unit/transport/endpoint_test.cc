#include "transport/endpoint.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;
using namespace headrace::transport;

TEST_CASE("endpoints are parsed and written as the table says") {
  struct Row {
    const char* text;
    const char* host;
    int port;
    const char* written;
    bool loopback;
    bool dialable;
  };
  const Row rows[] = {
      {"tcp://127.0.0.1:7420", "127.0.0.1", 7420, "tcp://127.0.0.1:7420", true, true},
      {"tcp://127.9.8.7:1", "127.9.8.7", 1, "tcp://127.9.8.7:1", true, true},
      {"tcp://128.0.0.1:65535", "128.0.0.1", 65535, "tcp://128.0.0.1:65535", false, true},
      {"tcp://0.0.0.0:7420", "0.0.0.0", 7420, "tcp://0.0.0.0:7420", false, false},
      {"tcp://*:7420", "*", 7420, "tcp://*:7420", false, false},
      {"tcp://*:*", "*", 0, "tcp://*:*", false, false},
      {"tcp://10.0.0.1:*", "10.0.0.1", 0, "tcp://10.0.0.1:*", false, false},
      {"tcp://localhost:0", "localhost", 0, "tcp://localhost:*", true, false},
      {"tcp://[::1]:7420", "::1", 7420, "tcp://[::1]:7420", true, true},
      {"tcp://[::]:7420", "::", 7420, "tcp://[::]:7420", false, false},
      {"tcp://[fe80::1]:80", "fe80::1", 80, "tcp://[fe80::1]:80", false, true},
      {"tcp://[fe80::1%eth0]:80", "fe80::1%eth0", 80, "tcp://[fe80::1%eth0]:80", false, true},
      {"tcp://node-7.example.org:7420", "node-7.example.org", 7420, "tcp://node-7.example.org:7420",
       false, true},
      {"tcp://my_host:7420", "my_host", 7420, "tcp://my_host:7420", false, true},
      {"tcp://3com.example:7420", "3com.example", 7420, "tcp://3com.example:7420", false, true},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    const auto endpoint = Endpoint::parse(row.text);
    REQUIRE(endpoint);
    CHECK(endpoint->host == row.host);
    CHECK(endpoint->port == row.port);
    CHECK(endpoint->text() == row.written);
    CHECK(endpoint->is_loopback() == row.loopback);
    CHECK(check_dialable(*endpoint).has_value() == row.dialable);
    CHECK(Endpoint::parse(endpoint->text()) == *endpoint);
  }
}

TEST_CASE("what is no endpoint is refused with its text and the way out") {
  const char* bad[] = {
      "",
      "tcp://",
      "127.0.0.1:7420",
      "udp://127.0.0.1:7420",
      "TCP://127.0.0.1:7420",
      "tcp://127.0.0.1",
      "tcp://127.0.0.1:",
      "tcp://:7420",
      "tcp://127.0.0.1:65536",
      "tcp://127.0.0.1:-1",
      "tcp://127.0.0.1:+1",
      "tcp://127.0.0.1:74x",
      "tcp://127.0.0.1:7420/",
      "tcp://127.0.0:7420",
      "tcp://256.0.0.1:7420",
      "tcp://::1:7420",
      "tcp://[::1]",
      "tcp://[::1:7420",
      "tcp://[127.0.0.1]:7420",
      "tcp://[]:7420",
      "tcp://[fe80::1%]:7420",
      "tcp://[fe80::1%sixteen_letters_]:7420",
      "tcp://[fe80::1%a/b]:7420",
      "tcp://[2001:db8::1%eth0]:7420",
      "tcp://-host:7420",
      "tcp://a b:7420",
      "tcp://a;b:7420",
      "tcp://**:7420",
      "tcp://h\xc3\xb6st:7420",
  };
  for (const char* text : bad) {
    CAPTURE(text);
    const auto endpoint = Endpoint::parse(text);
    REQUIRE_FALSE(endpoint);
    CHECK(endpoint.error().code == Code::kInvalid);
    CHECK(endpoint.error().message.find('"' + std::string(text) + '"') != std::string::npos);
    CHECK(endpoint.error().message.find("tcp://127.0.0.1:7420") != std::string::npos);
  }
}

TEST_CASE("an endpoint has at most 256 bytes") {
  CHECK(Endpoint::parse("tcp://" + std::string(245, 'a') + ":7420"));
  static_assert(limits::kEndpointBytes == 256);
  CHECK(Endpoint::parse("tcp://" + std::string(248, 'a') + ":1"));
  CHECK_FALSE(Endpoint::parse("tcp://" + std::string(249, 'a') + ":1"));
}

TEST_CASE("an endpoint that is too long is not echoed whole") {
  const auto endpoint = Endpoint::parse("tcp://" + std::string(100'000, 'a') + ":1");
  REQUIRE_FALSE(endpoint);
  CHECK(endpoint.error().message.size() < 300);
}

TEST_CASE("why an endpoint can't be dialled is said with its text") {
  const auto all = check_dialable({"*", 7420});
  REQUIRE_FALSE(all);
  CHECK(all.error().message.find("tcp://*:7420") != std::string::npos);
  const auto free_port = check_dialable({"10.0.0.1", 0});
  REQUIRE_FALSE(free_port);
  CHECK(free_port.error().message.find("tcp://10.0.0.1:*") != std::string::npos);
}
