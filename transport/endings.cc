#include "transport/endings.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "transport/sockets.h"

namespace headrace::transport {

namespace {

constexpr const char* kMonitor = "inproc://endings";

}  // namespace

Result<void> Endings::open(zmq::context_t& context, zmq::socket_t& router) {
  if (zmq_socket_monitor(router.handle(), kMonitor, ZMQ_EVENT_DISCONNECTED) != 0) {
    return fail(Code::kFull, std::string("no socket to be had: ") + zmq_strerror(zmq_errno()));
  }
  try {
    monitor_ = zmq::socket_t(context, zmq::socket_type::pair);
    monitor_.set(zmq::sockopt::rcvhwm, 0);  // libzmq's thread would wait for room
    monitor_.connect(kMonitor);
  } catch (const zmq::error_t& error) {
    return fail(Code::kFull, std::string("no socket to be had: ") + error.what());
  }
  return {};
}

void Endings::close() { close_socket(monitor_, Millis{0}); }

void Endings::heard(const RoutingId& from, zmq::message_t& frame) {
  const auto node = from.node();
  const int fd = node ? zmq_msg_get(frame.handle(), ZMQ_SRCFD) : -1;
  if (fd >= 0) peers_[fd] = *node;
}

// An event is two parts: number and value, address.
std::vector<NodeId> Endings::take() {
  std::vector<NodeId> ended;
  if (!monitor_) return ended;
  zmq::message_t event;
  zmq::message_t address;
  while (take_part(monitor_, event)) {
    if (event.more()) take_part(monitor_, address);
    std::uint16_t number = 0;
    std::int32_t fd = -1;
    if (event.size() < sizeof number + sizeof fd) continue;
    std::memcpy(&number, event.data(), sizeof number);
    std::memcpy(&fd, event.data<char>() + sizeof number, sizeof fd);
    const auto peer = number == ZMQ_EVENT_DISCONNECTED ? peers_.find(fd) : peers_.end();
    if (peer == peers_.end()) continue;
    ended.push_back(peer->second);
    peers_.erase(peer);
  }
  return ended;
}

}  // namespace headrace::transport
