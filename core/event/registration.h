// An interest in a topic, as its node keeps it. A value.
#pragma once

#include <cstdint>

#include "core/topic/topic_pattern.h"

namespace headrace {

using RegistrationId = std::uint64_t;  // counted by the node, never reused in its life

struct LocalRegistration {
  RegistrationId id = 0;
  TopicPattern pattern;
  bool sink = false;  // offered the event even if a more specific topic was delivered
};

}  // namespace headrace
