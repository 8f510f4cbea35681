// What a Membership asks of its owner, in the order in which it came about.
#pragma once

#include <string>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/wire/member.h"

namespace headrace {

// Order is precedence between beliefs with equal numbers.
enum class MemberState : std::uint8_t { kAlive = 0, kSuspect = 1, kDead = 2, kLeft = 3 };

std::string_view member_state_name(MemberState state);  // "alive", "suspect", "dead", "left"

// Send `message` ([kind, fields...]) over the control lane. `to` is zero when whoever lives at the
// endpoint is meant. The head names incarnation 0 as receiver: a membership message is for any
// incarnation of a node.
struct SendMember {
  NodeId to;
  std::string endpoint;
  Bytes message;
};

struct MemberChanged {
  enum class What : std::uint8_t { kJoined, kState, kForgotten };
  NodeId id;
  MemberState before = MemberState::kAlive;  // equals `after` when the member joined
  MemberState after = MemberState::kAlive;
  What what = What::kState;
};

// A higher incarnation of a known member: what its former one held or said is void, its advert too,
// until the next AdvertChanged. Comes before the MemberChanged that the restart may cause.
struct MemberRestarted {
  NodeId id;
  Incarnation before = 0;
  Incarnation now = 0;
  bool reopened = false;
};

// Membership::advert(id) has changed.
struct AdvertChanged {
  NodeId id;
  std::uint64_t version = 0;
};

// Somebody knows a higher incarnation of this node: persist seen + 1 and start again with it.
struct IncarnationSeen {
  Incarnation seen = 0;
};

struct MemberNote {
  std::string text;
};

using MemberOutput = std::variant<SendMember, MemberChanged, MemberRestarted, AdvertChanged,
                                  IncarnationSeen, MemberNote>;

}  // namespace headrace
