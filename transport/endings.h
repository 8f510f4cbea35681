// Endings: whose connection to a ROUTER has ended.
//
// libzmq tells of an ended connection by its descriptor, and of a frame which descriptor it came
// over; so each frame says whose a descriptor is. It ends when the peer's process does, and just as
// well when the peer closes what it does not use: a hint, no more. Two descriptors for all peers
// together, where a monitor on each DEALER would take two for each.
//
// Owned by the Transport and called by its thread; nothing blocks.
#pragma once

#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "core/base/error.h"
#include "transport/routing_id.h"

namespace headrace::transport {

class Endings final {
 public:
  // Before the router is bound. kFull: no socket is left.
  Result<void> open(zmq::context_t& context, zmq::socket_t& router);
  // Before the context is closed.
  void close();
  // Readable when take() has something; null before open().
  void* handle() { return monitor_.handle(); }

  // A frame came from there.
  void heard(const RoutingId& from, zmq::message_t& frame);
  // Those whose connection has ended since, nameless ones and clients apart.
  std::vector<NodeId> take();

 private:
  zmq::socket_t monitor_;
  std::unordered_map<int, NodeId> peers_;  // by descriptor
};

}  // namespace headrace::transport
