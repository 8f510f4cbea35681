// The sockets of a node. Owned by the node; every call from the loop thread, except wake() (any
// thread). Nothing blocks but poll() and close().
//
// Two ROUTERs are bound, control and data, each with a libzmq I/O thread of its own, so that
// control never waits behind bulk. To each peer there is a link: up to two DEALERs, one for each
// lane, opened by the first send and closed when idle, when the link is closed, or when more than
// allowed are open or descriptors run out (the least recently used of the lane goes). A peer is
// never answered on a ROUTER: libzmq 4.3.4 aborts or loses mail when one ROUTER both dials and
// accepts. Clients bind nothing, so they alone are answered, on the control ROUTER.
//
// What a send means: the frame is queued, no more. It may be lost with the connection, and it may
// reach another process that took over the address: the head of the frame says whom it is for.
// libzmq redials for ever; close the link of a peer that is gone or has a new incarnation.
//
// Limits. limits::kFrameBytes a frame, both ways: a larger one cuts the connection. Queues are
// counted in frames: control 1,000 each way (small frames); data 64, some 4 MiB of full batches, so
// that the owner's byte windows, which count what is queued there too, decide and libzmq only backs
// them up. Full is told (kFull), never waited for.
//
// Fork: a child must not call anything but the destructor, which then leaves the parent's sockets
// alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/wire/frame.h"
#include "transport/endpoint.h"
#include "transport/frame.h"
#include "transport/routing_id.h"

namespace headrace::transport {

using wire::Lane;

// Never given twice in the life of a Transport.
enum class LinkId : std::uint64_t {};

enum class Sent : std::uint8_t {
  kQueued,  // taken; the frame was moved from
  kFull,    // no room: the frame is untouched, on_room() tells when to try again
  kClosed,  // no such link or client, or the lane's address is not known; the frame is untouched
};

// Frames of both lanes, without what ZeroMQ and TCP put around them. Written by the loop thread, read
// by any.
struct Traffic {
  std::atomic<std::uint64_t> sent_frames{0}, sent_bytes{0};
  std::atomic<std::uint64_t> received_frames{0}, received_bytes{0};
};

struct TransportOptions {
  NodeId node{};
  // Where control listens. Port 0: a free one. Data takes the next port up, or a free one if that
  // is taken.
  Endpoint listen{"127.0.0.1", 0};
  std::size_t max_control = limits::kDealers;
  std::size_t max_data = limits::kDealers;
  // Beyond so many, control DEALERs that have been silent for that long are closed.
  std::size_t kept_control = limits::kControlKept;
  Nanos spare_after = std::chrono::seconds(5);
  std::shared_ptr<Traffic> traffic{};  // counts there, if somebody wants to look on
};

// Called inside poll(), on the loop thread. It may call anything of the Transport but poll() and
// close().
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;
  // Who sent it and whom it is for stands in the frame's head; `from` serves to answer a client.
  virtual void on_frame(Lane lane, const RoutingId& from, Frame frame) = 0;
  // A lane whose last send was kFull takes frames again.
  virtual void on_room(LinkId link, Lane lane) = 0;
  // A control connection from that node has ended: its process, or just its need for one.
  virtual void on_ended(const NodeId& /*node*/) {}
  // One of watch()'s has become readable.
  virtual void on_readable(int /*fd*/) {}
};

struct Turn {
  bool woken = false;  // wake() was called since the last turn
  bool more =
      false;  // a lane's share of the turn is used up: more is waiting, call again without a wait
};

struct TransportStats {
  std::uint64_t malformed = 0;  // dropped: not one part, or from a routing id that is none of ours
  std::uint64_t evicted = 0;    // DEALERs closed to make room for others
  std::uint64_t starved = 0;    // not opened, or at another's cost: too few descriptors
  std::size_t dealers = 0;      // open now
};

class Transport final {
 public:
  // kInUse: the port asked for is taken. kInvalid: the host is none of this machine's, or no such
  // host.
  static Result<Transport> open(const TransportOptions& options);
  ~Transport();
  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) = delete;

  // As asked for, with the ports that were taken.
  const Endpoint& control_endpoint() const;
  const Endpoint& data_endpoint() const;

  // Nothing is dialled before the first send. kInvalid for what can't be dialled.
  Result<LinkId> open_link(const Endpoint& control, const std::optional<Endpoint>& data = {});
  // A changed address closes the lane's DEALER; the next send dials anew. kNotFound, kInvalid.
  Result<void> set_data_endpoint(LinkId link, const Endpoint& data);
  // What is queued is lost. A link that is not there is fine.
  void close_link(LinkId link);
  // Closes the DEALERs that nothing was sent over for `idle` and that hold nothing back, and those
  // of control beyond what is kept; their links stay.
  void close_idle(Nanos idle);

  // Frames over limits::kFrameBytes are a fault of the caller's. Large ones are not copied.
  Sent send(LinkId link, Lane lane, Bytes& frame);
  // Empty buffers that full batches have left in since the last call: to fill again.
  std::vector<Bytes> take_spare();
  // To a client, by the routing id its frame came from. kClosed: gone. kFull: it does not read;
  // there is no on_room() for clients, drop it.
  Sent reply(const RoutingId& client, Bytes& frame);

  // Waits until something comes, wake() is called, a full lane has room, or `at_most` has passed
  // (rounded up to milliseconds); then hands over what is waiting, control first, up to
  // limits::kTurnFrames and limits::kTurnBytes a lane. A signal ends the wait.
  Turn poll(Nanos at_most, TransportEvents& events);
  // What poll() waits for besides, until the next call of this; negative ones are passed over.
  void watch(std::span<const int> fds);
  // Ends the wait of poll(), or the next one. Any thread, until the Transport is destroyed.
  void wake();

  TransportStats stats() const;

  // Closes all, giving what is queued up to `flush` to leave. The ports are free afterwards. Called
  // by ~, with 0.
  void close(Millis flush);

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace::transport
