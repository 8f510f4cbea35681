// Where a Peer hands over what concerns events. Implemented by the event plane of a node (which other threads enter
// too, so it locks) and by the simulator's.
//
// Called on the Peer's thread.
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/job/host.h"

namespace headrace {

class EventPort {
 public:
  virtual ~EventPort() = default;

  // The registrations of a member as it advertises them (core/event), in its incarnation; replaces earlier ones.
  virtual void set_member(const NodeId& node, Incarnation life, BytesView registrations) = 0;
  // Dead, left, or started anew: its registrations are void and its lane is over.
  virtual void remove_member(const NodeId& node) = 0;
  // One message of the event kinds or several back to back, as they stand in a frame: a frame of events comes whole,
  // so that its cost is paid once. `frame` keeps the bytes that `messages` looks into.
  virtual void receive(const job::Now& now, const NodeId& from, Incarnation life, BytesView messages,
                       const std::shared_ptr<const void>& frame) = 0;
};

}  // namespace headrace
