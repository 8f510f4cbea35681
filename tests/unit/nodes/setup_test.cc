#include "nodes/runtime/setup.h"

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
