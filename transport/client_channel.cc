#include "transport/client_channel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "transport/sockets.h"
#include "transport/waker.h"

namespace headrace::transport {

namespace {

using SteadyClock = std::chrono::steady_clock;
using wire::Lane;

constexpr const char* kMonitor = "inproc://monitor";
constexpr int kWatched = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                         ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED;

// A call's last words, "bye" or a cancel, get this long to leave.
constexpr Millis kLinger{200};

// What is left until `end`, in whole milliseconds, never too short.
long left_ms(SteadyClock::time_point end) {
  const auto left = std::chrono::ceil<Millis>(end - SteadyClock::now()).count();
  return static_cast<long>(std::max<Millis::rep>(left, 0));
}

SteadyClock::time_point end_of(Millis timeout) {
  constexpr Millis kLongest = std::chrono::hours(24 * 365);  // what the clock can add
  return SteadyClock::now() + std::clamp(timeout, Millis{0}, kLongest);
}

}  // namespace

class ClientChannel::Impl {
 public:
  explicit Impl(const Endpoint& node) : node_(node) {}
  ~Impl() {
    close_socket(monitor_, Millis{0});
    for (auto& dealer : dealers_) close_socket(dealer, kLinger);
  }

  bool is_ours() const { return pid_ == getpid(); }

  Result<void> open();
  Result<void> connect(Millis timeout);
  Result<void> set_data_endpoint(const Endpoint& data);
  Result<void> send(Lane lane, Bytes& frame, Millis timeout);
  Result<std::optional<Frame>> recv(Millis timeout);

  const RoutingId self_ = RoutingId::new_client();
  Waker waker_;

 private:
  enum class State : unsigned char { kDialing, kFailed, kConnected };

  void watch();

  const Endpoint node_;
  const pid_t pid_ = getpid();
  zmq::context_t context_{1};
  std::array<zmq::socket_t, 2> dealers_;
  std::optional<Endpoint> data_at_;
  zmq::socket_t monitor_;
  State state_ = State::kDialing;
  bool broke_ = false;  // a connection that stood is gone, and recv() has not said so yet
};

Result<void> ClientChannel::Impl::open() {
  if (auto good = check_dialable(node_); !good) return good;
  auto dealer = make_dealer(context_, Lane::kControl, self_, Threads::kShared);
  if (!dealer) return fail(dealer.error());
  dealers_[0] = std::move(*dealer);
  if (zmq_socket_monitor(dealers_[0].handle(), kMonitor, kWatched) != 0) {
    return fail(Code::kFull, std::string("no socket to be had: ") + zmq_strerror(zmq_errno()));
  }
  try {
    monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
    monitor_.connect(kMonitor);
  } catch (const zmq::error_t& error) {
    return fail(Code::kFull, std::string("no socket to be had: ") + error.what());
  }
  return dial(dealers_[0], node_);
}

// Takes in what the monitor has seen. An event is two parts: number and value, address.
void ClientChannel::Impl::watch() {
  zmq::message_t event;
  zmq::message_t address;
  while (take_part(monitor_, event)) {
    if (event.more()) take_part(monitor_, address);
    std::uint16_t number = 0;
    if (event.size() < sizeof(number)) continue;
    std::memcpy(&number, event.data(), sizeof(number));
    const bool stood = state_ == State::kConnected;
    state_ = number == ZMQ_EVENT_HANDSHAKE_SUCCEEDED ? State::kConnected : State::kFailed;
    if (stood && state_ == State::kFailed) broke_ = true;
  }
}

Result<void> ClientChannel::Impl::connect(Millis timeout) {
  const auto end = end_of(timeout);
  watch();
  if (state_ == State::kFailed) state_ = State::kDialing;
  while (state_ == State::kDialing) {
    zmq_pollitem_t item{monitor_.handle(), 0, ZMQ_POLLIN, 0};
    const auto left = left_ms(end);
    if (zmq_poll(&item, 1, left) == 0 && left == 0) {
      return fail(Code::kTimeout, "no answer from " + node_.text() + " within " +
                                      std::to_string(timeout.count()) +
                                      " ms: check the address and that the node is well");
    }
    watch();
  }
  if (state_ == State::kConnected) return {};
  return fail(Code::kUnreachable, "no node answers at " + node_.text() +
                                      ": start one there (headrace node), or name another");
}

Result<void> ClientChannel::Impl::set_data_endpoint(const Endpoint& data) {
  if (data_at_ == data) return {};
  if (auto good = check_dialable(data); !good) return good;
  auto dealer = make_dealer(context_, Lane::kData, self_, Threads::kShared);
  if (!dealer) return fail(dealer.error());
  if (auto dialled = dial(*dealer, data); !dialled) return dialled;
  close_socket(dealers_[1], kLinger);
  dealers_[1] = std::move(*dealer);
  data_at_ = data;
  return {};
}

Result<void> ClientChannel::Impl::send(Lane lane, Bytes& frame, Millis timeout) {
  auto& dealer = dealers_[static_cast<std::size_t>(lane)];
  if (!dealer) return fail(Code::kInvalid, "the node's data endpoint is not known yet");
  const auto end = end_of(timeout);
  while (put_frame(dealer, frame) != Put::kDone) {
    zmq_pollitem_t item{dealer.handle(), 0, ZMQ_POLLOUT, 0};
    const auto left = left_ms(end);
    if (zmq_poll(&item, 1, left) == 0 && left == 0) {
      return fail(Code::kTimeout, "node at " + node_.text() + " took nothing for " +
                                      std::to_string(timeout.count()) +
                                      " ms: it is gone or overloaded");
    }
  }
  return {};
}

Result<std::optional<Frame>> ClientChannel::Impl::recv(Millis timeout) {
  const auto end = end_of(timeout);
  for (;;) {
    zmq::message_t body;
    if (take_part(dealers_[0], body)) {
      if (!body.more()) return Frame(std::move(body));
      while (body.more() && take_part(dealers_[0], body)) continue;  // no frame of ours: dropped
      continue;
    }
    watch();
    if (std::exchange(broke_, false)) {
      return fail(Code::kUnreachable, "the connection to " + node_.text() + " broke");
    }
    if (waker_.clear()) return std::optional<Frame>{};
    std::array<zmq_pollitem_t, 3> items{{{dealers_[0].handle(), 0, ZMQ_POLLIN, 0},
                                         {monitor_.handle(), 0, ZMQ_POLLIN, 0},
                                         {nullptr, waker_.fd(), ZMQ_POLLIN, 0}}};
    const auto left = left_ms(end);
    if (zmq_poll(items.data(), 3, left) == 0 && left == 0) return std::optional<Frame>{};
  }
}

Result<ClientChannel> ClientChannel::open(const Endpoint& node) {
  auto impl = std::make_unique<Impl>(node);
  if (auto opened = impl->open(); !opened) return fail(opened.error());
  return ClientChannel(std::move(impl));
}

ClientChannel::ClientChannel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientChannel::ClientChannel(ClientChannel&&) noexcept = default;

ClientChannel::~ClientChannel() {
  // In a forked child the sockets are the parent's.
  if (impl_ && !impl_->is_ours()) static_cast<void>(impl_.release());
}

const RoutingId& ClientChannel::routing_id() const { return impl_->self_; }
Result<void> ClientChannel::connect(Millis timeout) { return impl_->connect(timeout); }
Result<void> ClientChannel::set_data_endpoint(const Endpoint& data) {
  return impl_->set_data_endpoint(data);
}
Result<void> ClientChannel::send(wire::Lane lane, Bytes& frame, Millis timeout) {
  return impl_->send(lane, frame, timeout);
}
Result<std::optional<Frame>> ClientChannel::recv(Millis timeout) { return impl_->recv(timeout); }
void ClientChannel::wake() { impl_->waker_.wake(); }

}  // namespace headrace::transport
