// A client's line to one node: a DEALER to its control endpoint and, once that is told, one to its
// data endpoint. Binds nothing. Owned and called by one thread, except wake() (any thread).
// connect(), send() and recv() block up to the time given.
//
// As everywhere, a send says that the frame is queued; only an answer says more. The channel
// redials by itself and keeps its routing id, but what was in flight is lost: recv() says so once,
// by kUnreachable, so that a call that waits for its answer can end as "outcome unknown" at once.
#pragma once

#include <memory>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/wire/frame.h"
#include "transport/endpoint.h"
#include "transport/frame.h"
#include "transport/routing_id.h"

namespace headrace::transport {

class ClientChannel final {
 public:
  // Starts to dial. kInvalid for what can't be dialled.
  static Result<ClientChannel> open(const Endpoint& node);
  ~ClientChannel();
  ClientChannel(ClientChannel&&) noexcept;
  ClientChannel& operator=(ClientChannel&&) = delete;

  const RoutingId& routing_id() const;

  // Waits until the node's socket has shaken hands. kUnreachable as soon as a dial fails, with the
  // address and the way out (libzmq dials on: calling again waits for the next try); kTimeout if
  // nothing answers.
  Result<void> connect(Millis timeout);
  // Until it is called, frames for the data lane are refused with kInvalid.
  Result<void> set_data_endpoint(const Endpoint& data);

  // kTimeout: nothing was sent and the frame is untouched. Woken early, it goes on waiting.
  Result<void> send(wire::Lane lane, Bytes& frame, Millis timeout);
  // The next frame; none when the time is over or wake() was called. kUnreachable: the connection
  // broke.
  Result<std::optional<Frame>> recv(Millis timeout);
  void wake();

 private:
  class Impl;
  explicit ClientChannel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace::transport
