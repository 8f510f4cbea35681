// How the nodes of one measurement find each other: one opens and says where, the others join it.
//
// A MeetingPoint lies in Shared memory; one process tells, any number wait.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "nodes/node.h"

namespace headrace::bench {

inline constexpr Millis kStart{20'000};  // for all roles to be there
inline constexpr Millis kCase{600'000};  // no measurement takes longer

struct MeetingPoint {
  std::array<char, limits::kEndpointBytes + 1> endpoint{};
  std::atomic<std::uint32_t> told{0};

  void tell(const std::string& where);
  Result<std::string> wait() const;
};

// A node without a store that has joined there and knows what the others registered.
Result<Node> join(const MeetingPoint& point);

}  // namespace headrace::bench
