// Whole nodes in one process, for tests of what they do together.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "nodes/node.h"
#include "tests/unit/nodes/support.h"

namespace headrace::test {

// The value, or a failed test that shows the error.
template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(std::string(code_name(result.error().code)) + ": " + result.error().message);
  return std::move(*result);
}
inline void must(Result<void> result) {
  if (!result) FAIL(std::string(code_name(result.error().code)) + ": " + result.error().message);
}

inline Node open_owner(const TemporaryDirectory& directory) {
  return must(Node::open({.name = "owner", .data = directory.path()}));
}
// A node without a store that has met `seed`.
inline Node open_worker(const Node& seed) {
  auto node = must(Node::open({.name = "worker", .join = {seed.endpoint()}}));
  must(node.wait_ready(Millis{20'000}));
  return node;
}

inline JobSpec spec(std::string topic, ParamSet params = {}) {
  JobSpec spec;
  spec.topic = std::move(topic);
  spec.params = std::move(params);
  return spec;
}

inline constexpr Millis kLong{20'000};

}  // namespace headrace::test
