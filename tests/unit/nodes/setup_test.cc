#include "nodes/runtime/setup.h"

#include <stdlib.h>

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

Error refused(NodeOptions options) {
  auto setup = make_setup(std::move(options), {});
  REQUIRE_FALSE(setup);
  return setup.error();
}

bool names(const Error& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a node listens on loopback unless it is told that others may come in") {
  CHECK(make_setup({}, {})->listen.is_loopback());
  const auto error = refused({.listen = "tcp://0.0.0.0:7420"});
  CHECK(error.code == Code::kForbidden);
  CHECK(names(error, "0.0.0.0:7420"));
  CHECK(names(error, "insecure"));
  CHECK(make_setup({.listen = "tcp://*:7420", .insecure = true}, {}));
}

TEST_CASE("a node of the LAN listens on all interfaces, and is told what it lacks for that") {
  const auto error = refused({.lan = true});
  CHECK(error.code == Code::kForbidden);
  CHECK(names(error, "secret"));
  CHECK(names(error, "--insecure"));
  const auto setup = make_setup({.insecure = true, .lan = true, .beacon_port = 1}, {});
  REQUIRE(setup);
  CHECK(setup->listen == transport::Endpoint{"*", 0});
  CHECK(setup->beacon_port == 1);
  CHECK(names(refused({.listen = "tcp://127.0.0.1:0", .insecure = true, .lan = true}), "lan"));
}

TEST_CASE("the beacon is on by default where it reaches, at the port that is asked for") {
  const auto port = [](NodeOptions options) {
    return make_setup(std::move(options), {}).value().beacon_port;
  };
  ::unsetenv("HEADRACE_BEACON");
  CHECK(port({}) == 7420);
  CHECK(port({.beacon = false}) == 0);
  CHECK(port({.beacon_port = 9}) == 9);
  // Who listens elsewhere is not at loopback, and has not asked for the network.
  CHECK(port({.listen = "tcp://10.0.0.1:1", .insecure = true}) == 0);
  ::setenv("HEADRACE_BEACON", "8", 1);
  CHECK(port({}) == 8);
  CHECK(port({.beacon_port = 9}) == 9);
  for (const char* bad : {"no", "0", "65536", "8x", " 8"}) {
    ::setenv("HEADRACE_BEACON", bad, 1);
    CHECK(names(refused({}), bad));
  }
  ::setenv("HEADRACE_BEACON", "off", 1);
  CHECK(port({}) == 0);
}

TEST_CASE("what is wrong with an option is said with its value") {
  CHECK(names(refused({.name = "two words"}), "two words"));
  CHECK(names(refused({.name = std::string(limits::kNameBytes + 1, 'x')}), "129"));
  CHECK(make_setup({.name = std::string(limits::kNameBytes, 'x')}, {}));
  CHECK(names(refused({.cluster = ""}), "cluster"));
  CHECK(names(refused({.listen = "nonsense"}), "nonsense"));
  CHECK(names(refused({.join = {"tcp://127.0.0.1:0"}}), "join"));
  CHECK(names(refused({.owner = "tcp://*:1"}), "owner"));
  CHECK(names(refused({.tags = {{"k", std::string(limits::kTagsBytes, 'x')}}}), "513"));
  CHECK(make_setup({.tags = {{"k", std::string(limits::kTagsBytes - 1, 'x')}}}, {}));
}

TEST_CASE("a node that listens everywhere tells an address that can be dialled") {
  CHECK(reachable({"127.0.0.1", 7420}) == transport::Endpoint{"127.0.0.1", 7420});
  const auto told = reachable({"*", 7420});
  CHECK_FALSE(told.is_wildcard());
  CHECK(told.port == 7420);
}
