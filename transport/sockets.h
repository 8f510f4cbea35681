// How each kind of socket is set up, and how one frame is put into it. Inner part of transport/.
//
// None of these calls waits or throws. A socket that can't be made is an Error.
#pragma once

#include <memory>
#include <zmq.hpp>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/wire/frame.h"
#include "transport/endpoint.h"
#include "transport/routing_id.h"
#include "transport/spare_frames.h"

namespace headrace::transport {

// The I/O thread that carries a lane: a node has one for each, a client one for both.
enum class Threads : unsigned char { kOneForEachLane, kShared };

// Bound to `at`, whose port is set to the one taken. kInUse, kForbidden, kInvalid.
Result<zmq::socket_t> bind_router(zmq::context_t& context, wire::Lane lane, Endpoint& at);
Result<zmq::socket_t> make_dealer(zmq::context_t& context, wire::Lane lane, const RoutingId& self,
                                  Threads threads);
// The dial itself is libzmq's business, now and again until the socket is closed.
Result<void> dial(zmq::socket_t& dealer, const Endpoint& to);

// Closes; what is queued has `linger` to leave, in the background.
void close_socket(zmq::socket_t& socket, Millis linger);

enum class Put : unsigned char { kDone, kFull, kNoRoute };
// Hands one frame to the socket, or leaves it untouched. The memory of a large one goes to `spare`
// when it has left.
Put put_frame(zmq::socket_t& socket, Bytes& frame,
              const std::shared_ptr<SpareFrames>& spare = nullptr);
// To one peer of a ROUTER.
Put put_frame_to(zmq::socket_t& router, const RoutingId& to, Bytes& frame);

// Takes one part; false if nothing is there.
bool take_part(zmq::socket_t& socket, zmq::message_t& part);

}  // namespace headrace::transport
