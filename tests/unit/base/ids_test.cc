#include "core/base/ids.h"

#include <catch2/catch.hpp>

using namespace headrace;

TEST_CASE("an id reads back from the hex it prints") {
  const auto id = NodeId::from_halves(0x0123456789abcdefULL, 0xfedcba9876543210ULL);
  CHECK(id.hex() == "0123456789abcdeffedcba9876543210");
  CHECK(NodeId::parse(id.hex()).value() == id);
  CHECK(NodeId::parse("0123456789ABCDEFFEDCBA9876543210").value() == id);
  CHECK(id.high() == 0x0123456789abcdefULL);
  CHECK(id.low() == 0xfedcba9876543210ULL);
}

TEST_CASE("an id refuses text that is not 32 hex digits and names it") {
  for (const char* text : {"", "12", "0123456789abcdeffedcba987654321", "0123456789abcdeffedcba98765432100",
                           "0123456789abcdeffedcba987654321g"}) {
    const auto id = JobId::parse(text);
    REQUIRE_FALSE(id);
    CHECK(id.error().code == Code::kInvalid);
    CHECK(id.error().message.find(text) != std::string::npos);
  }
}

TEST_CASE("ids order as their hex does") {
  CHECK(NodeId::from_halves(1, 0) > NodeId::from_halves(0, UINT64_MAX));
  CHECK(NodeId{}.is_zero());
}

TEST_CASE("every code has a name and unknown numbers say so") {
  for (int number = 1; number <= 14; ++number) CHECK(code_name(static_cast<Code>(number)) != "Unknown");
  CHECK(code_name(static_cast<Code>(15)) == "Unknown");
}
