#include "transport/sockets.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"

namespace headrace::transport {

namespace {

// Below this a copy is cheaper than the two allocations and the foreign free that lending the
// buffer takes.
constexpr std::size_t kLendFrom = 4096;

constexpr int kBacklog = 4096;  // a restarted seed is dialled by everyone at once
constexpr int kRedialMs = 200;
constexpr int kRedialMaxMs = 5'000;
constexpr int kHandshakeMs = 3'000;
// A connection that is dead without a word is noticed by TCP itself, which costs no wake-ups of
// ours: keep-alive while it is idle, the retransmission time-out while bytes are under way.
constexpr int kKeepAliveIdleSeconds = 30;
constexpr int kKeepAliveEverySeconds = 5;
constexpr int kRetransmitMs = 30'000;

int queue_limit(wire::Lane lane) {
  return lane == wire::Lane::kControl ? limits::kControlFrames : limits::kDataFrames;
}

tl::unexpected<Error> socket_failed(const char* what) {
  const int error = errno;
  const char* way_out =
      error == EMFILE ? ": raise the limit of open files (ulimit -n) or hold fewer links" : "";
  return fail(Code::kFull, std::string(what) + ": " + zmq_strerror(error) + way_out);
}

Result<zmq::socket_t> make_socket(zmq::context_t& context, zmq::socket_type type, wire::Lane lane) {
  zmq::socket_t socket;
  try {
    socket = zmq::socket_t(context, type);
  } catch (const zmq::error_t&) {
    return socket_failed("no socket to be had");
  }
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndtimeo, 0);
  socket.set(zmq::sockopt::sndhwm, queue_limit(lane));
  socket.set(zmq::sockopt::rcvhwm, queue_limit(lane));
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(limits::kFrameBytes));
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, kKeepAliveIdleSeconds);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, kKeepAliveEverySeconds);
  socket.set(zmq::sockopt::tcp_maxrt, kRetransmitMs);
  return socket;
}

void pin(zmq::socket_t& socket, wire::Lane lane) {
  socket.set(zmq::sockopt::affinity, std::uint64_t{1} << static_cast<unsigned>(lane));
}

tl::unexpected<Error> bind_failed(const Endpoint& at, int error) {
  const std::string where = "cannot listen on " + at.text() + ": ";
  switch (error) {
    case EADDRINUSE:
      return fail(Code::kInUse, where + "port " + std::to_string(at.port) +
                                    " is taken by another program; stop it, or give another port "
                                    "(0 takes a free one)");
    case EACCES:
      return fail(Code::kForbidden, where + "port " + std::to_string(at.port) +
                                        " needs privileges; give one above 1023");
    case EADDRNOTAVAIL:
    case ENODEV:
    case EINVAL:
    case EAFNOSUPPORT:
      return fail(Code::kInvalid, where +
                                      "no interface of this machine has that address; give one "
                                      "that has, or * for all");
    default: return fail(Code::kInternal, where + zmq_strerror(error));
  }
}

struct Lent {
  Bytes bytes;
  std::shared_ptr<SpareFrames> spare;
};

// By libzmq's I/O thread.
void free_lent(void*, void* hint) {
  const std::unique_ptr<Lent> lent(static_cast<Lent*>(hint));
  if (lent->spare) lent->spare->give(std::move(lent->bytes));
}

Put outcome_of_failed_send() {
  const int error = zmq_errno();
  return error == EAGAIN ? Put::kFull : Put::kNoRoute;
}

Put lend_frame(void* socket, Bytes& frame, const std::shared_ptr<SpareFrames>& spare) {
  auto lent = std::make_unique<Lent>(Lent{std::move(frame), spare});
  zmq_msg_t message;
  if (zmq_msg_init_data(&message, lent->bytes.data(), lent->bytes.size(), free_lent, lent.get()) !=
      0) {
    frame = std::move(lent->bytes);
    return Put::kFull;  // out of memory
  }
  Lent* held = lent.release();  // the message's from here on
  int sent = -1;
  do sent = zmq_msg_send(&message, socket, ZMQ_DONTWAIT);
  while (sent < 0 && zmq_errno() == EINTR);
  if (sent >= 0) return Put::kDone;
  const auto outcome = outcome_of_failed_send();
  frame = std::move(held->bytes);
  zmq_msg_close(&message);
  return outcome;
}

int send_copy(void* socket, BytesView bytes, int flags) {
  int sent = -1;
  do sent = zmq_send(socket, bytes.data(), bytes.size(), flags | ZMQ_DONTWAIT);
  while (sent < 0 && zmq_errno() == EINTR);
  return sent;
}

}  // namespace

Result<zmq::socket_t> bind_router(zmq::context_t& context, wire::Lane lane, Endpoint& at) {
  auto router = make_socket(context, zmq::socket_type::router, lane);
  if (!router) return router;
  pin(*router, lane);
  router->set(zmq::sockopt::router_handover, true);
  router->set(zmq::sockopt::router_mandatory, true);
  router->set(zmq::sockopt::backlog, kBacklog);
  router->set(zmq::sockopt::ipv6, at.is_ipv6());
  if (zmq_bind(router->handle(), at.text().c_str()) != 0) return bind_failed(at, zmq_errno());
  const auto bound = Endpoint::parse(router->get(zmq::sockopt::last_endpoint));
  HEADRACE_CHECK(bound && bound->port != 0);
  at.port = bound->port;
  return router;
}

Result<zmq::socket_t> make_dealer(zmq::context_t& context, wire::Lane lane, const RoutingId& self,
                                  Threads threads) {
  auto dealer = make_socket(context, zmq::socket_type::dealer, lane);
  if (!dealer) return dealer;
  if (threads == Threads::kOneForEachLane) pin(*dealer, lane);
  dealer->set(zmq::sockopt::routing_id, zmq::const_buffer(self.raw().data(), self.raw().size()));
  dealer->set(zmq::sockopt::reconnect_ivl, kRedialMs);
  dealer->set(zmq::sockopt::reconnect_ivl_max, kRedialMaxMs);
  return dealer;
}

Result<void> dial(zmq::socket_t& dealer, const Endpoint& to) {
  dealer.set(zmq::sockopt::ipv6, to.is_ipv6() || to.name_is_ipv6);
  if (zmq_connect(dealer.handle(), to.text().c_str()) == 0) return {};
  return fail(Code::kInvalid, "cannot dial " + to.text() + ": " + zmq_strerror(zmq_errno()));
}

void close_socket(zmq::socket_t& socket, Millis linger) {
  if (!socket) return;
  socket.set(zmq::sockopt::linger, static_cast<int>(linger.count()));
  socket.close();
}

Put put_frame(zmq::socket_t& socket, Bytes& frame, const std::shared_ptr<SpareFrames>& spare) {
  HEADRACE_CHECK(frame.size() <= limits::kFrameBytes);
  if (frame.size() >= kLendFrom) return lend_frame(socket.handle(), frame, spare);
  if (send_copy(socket.handle(), frame, 0) < 0) return outcome_of_failed_send();
  frame.clear();
  return Put::kDone;
}

Put put_frame_to(zmq::socket_t& router, const RoutingId& to, Bytes& frame) {
  // MANDATORY answers at the first part; the second one then has a place.
  if (send_copy(router.handle(), to.raw(), ZMQ_SNDMORE) < 0) return outcome_of_failed_send();
  return put_frame(router, frame);
}

bool take_part(zmq::socket_t& socket, zmq::message_t& part) {
  int got = -1;
  do got = zmq_msg_recv(part.handle(), socket.handle(), ZMQ_DONTWAIT);
  while (got < 0 && zmq_errno() == EINTR);
  return got >= 0;
}

}  // namespace headrace::transport
