#include "transport/transport.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/endings.h"
#include "transport/file_limit.h"
#include "transport/sockets.h"
#include "transport/waker.h"

namespace headrace::transport {

namespace {

constexpr int kIoThreads = 2;
// For libzmq's threads, the ROUTERs and what watches them, with some to spare.
constexpr std::size_t kDescriptorsToStart = 24;
// A DEALER that is closed to make room may still hold mail for a peer that is alive.
constexpr Millis kEvictLinger{250};
constexpr Nanos kLongestWait = std::chrono::hours(1);

// Ages only; sampled once a turn.
MonoTime now() { return MonoTime{std::chrono::steady_clock::now().time_since_epoch()}; }

constexpr Lane kLanes[] = {Lane::kControl, Lane::kData};
constexpr std::size_t kFirstWatched = 4;  // behind the waker, the ROUTERs and the endings

std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

struct Dealer {
  zmq::socket_t socket{};
  MonoTime used{};
  bool full = false;
};

struct Link {
  std::array<std::optional<Endpoint>, 2> endpoints{};
  std::array<std::optional<Dealer>, 2> dealers{};
};

// Waits in whole milliseconds, never too short: a timer that fires early is asked for twice.
long wait_ms(Nanos at_most) {
  const auto bounded = std::clamp(at_most, Nanos{0}, kLongestWait);
  return static_cast<long>(std::chrono::ceil<Millis>(bounded).count());
}

Sent sent(Put put) {
  switch (put) {
    case Put::kDone: return Sent::kQueued;
    case Put::kFull: return Sent::kFull;
    case Put::kNoRoute: break;
  }
  return Sent::kClosed;
}

}  // namespace

class Transport::Impl {
 public:
  explicit Impl(const TransportOptions& options)
      : options_(options),
        traffic_(options.traffic ? options.traffic : std::make_shared<Traffic>()),
        context_(kIoThreads, static_cast<int>(2 * (options.max_control + options.max_data) + 64)) {}
  ~Impl() { close(Millis{0}); }

  bool is_ours() const { return pid_ == getpid(); }

  Result<void> bind();
  Result<LinkId> open_link(const Endpoint& control, const std::optional<Endpoint>& data);
  Result<void> set_data_endpoint(LinkId id, const Endpoint& data);
  void close_link(LinkId id);
  void close_idle(Nanos idle);
  Sent send(LinkId id, Lane lane, Bytes& frame);
  Sent reply(const RoutingId& client, Bytes& frame);
  Turn poll(Nanos at_most, TransportEvents& events);
  void watch(std::span<const int> fds) { watched_.assign(fds.begin(), fds.end()); }
  void close(Millis flush);

  Endpoint control_at_;
  Endpoint data_at_;
  TransportStats stats_;
  Waker waker_;
  const std::shared_ptr<SpareFrames> spare_ = std::make_shared<SpareFrames>();

 private:
  struct LaneOf {
    LinkId link;
    Lane lane;
  };

  Dealer* dealer_of(const LaneOf& lane);
  Result<void> open_dealer(Link& link, Lane lane);
  void drop_dealer(std::optional<Dealer>& dealer, Lane lane, Millis linger);
  void close_spare();
  bool evict_oldest(Lane lane);
  void make_room(Lane lane);
  void count_sent(std::size_t bytes);
  void gather_items();
  void tell_room(TransportEvents& events);
  bool drain(Lane lane, TransportEvents& events);

  const TransportOptions options_;
  const std::shared_ptr<Traffic> traffic_;
  const pid_t pid_ = getpid();
  zmq::context_t context_;
  std::array<zmq::socket_t, 2> routers_;
  Endings endings_;                       // of control
  std::array<std::size_t, 2> dealers_{};  // open
  std::unordered_map<LinkId, Link> links_;
  std::uint64_t links_made_ = 0;
  // Numbers the DEALERs. Not from 0: a node restarted, or its twin, must not meet the names of the
  // other.
  std::uint32_t dealers_made_ = std::random_device{}();
  std::vector<LaneOf> full_;  // lanes whose owner waits for on_room()
  std::vector<int> watched_;
  std::vector<zmq_pollitem_t> items_;
  MonoTime now_ = now();
};

Result<void> Transport::Impl::bind() {
  if (auto enough = check_descriptors(kDescriptorsToStart); !enough) return enough;
  control_at_ = options_.listen;
  auto control = bind_router(context_, Lane::kControl, control_at_);
  if (!control) return fail(control.error());
  routers_[0] = std::move(*control);
  if (auto watching = endings_.open(context_, routers_[0]); !watching) return watching;
  data_at_ = control_at_;
  ++data_at_.port;  // 65535 + 1 is 0, a free one
  auto data = bind_router(context_, Lane::kData, data_at_);
  if (!data) {
    data_at_.port = 0;
    data = bind_router(context_, Lane::kData, data_at_);
  }
  if (!data) return fail(data.error());
  routers_[1] = std::move(*data);
  return {};
}

Result<LinkId> Transport::Impl::open_link(const Endpoint& control,
                                          const std::optional<Endpoint>& data) {
  if (auto good = check_dialable(control); !good) return fail(good.error());
  if (data) {
    if (auto good = check_dialable(*data); !good) return fail(good.error());
  }
  const LinkId id{++links_made_};
  links_[id].endpoints = {control, data};
  return id;
}

Result<void> Transport::Impl::set_data_endpoint(LinkId id, const Endpoint& data) {
  const auto found = links_.find(id);
  if (found == links_.end()) return fail(Code::kNotFound, "no such link");
  if (auto good = check_dialable(data); !good) return good;
  auto& endpoint = found->second.endpoints[index(Lane::kData)];
  if (endpoint == data) return {};
  endpoint = data;
  drop_dealer(found->second.dealers[index(Lane::kData)], Lane::kData, Millis{0});
  return {};
}

void Transport::Impl::close_link(LinkId id) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  for (const auto lane : kLanes) drop_dealer(found->second.dealers[index(lane)], lane, Millis{0});
  links_.erase(found);
  std::erase_if(full_, [id](const LaneOf& lane) { return lane.link == id; });
}

void Transport::Impl::close_idle(Nanos idle) {
  for (auto& [id, link] : links_) {
    for (const auto lane : kLanes) {
      auto& dealer = link.dealers[index(lane)];
      if (dealer && !dealer->full && now_ - dealer->used >= idle) {
        drop_dealer(dealer, lane, kEvictLinger);
      }
    }
  }
  close_spare();
}

// The oldest first.
void Transport::Impl::close_spare() {
  if (dealers_[index(Lane::kControl)] <= options_.kept_control) return;
  std::vector<std::optional<Dealer>*> silent;
  for (auto& [id, link] : links_) {
    auto& dealer = link.dealers[index(Lane::kControl)];
    if (dealer && !dealer->full && now_ - dealer->used >= options_.spare_after) {
      silent.push_back(&dealer);
    }
  }
  std::sort(silent.begin(), silent.end(),
            [](const auto* a, const auto* b) { return (*a)->used < (*b)->used; });
  for (auto* dealer : silent) {
    if (dealers_[index(Lane::kControl)] <= options_.kept_control) return;
    drop_dealer(*dealer, Lane::kControl, kEvictLinger);
  }
}

void Transport::Impl::drop_dealer(std::optional<Dealer>& dealer, Lane lane, Millis linger) {
  if (!dealer) return;
  close_socket(dealer->socket, linger);
  dealer.reset();
  --dealers_[index(lane)];
  --stats_.dealers;
}

// False if none is open.
bool Transport::Impl::evict_oldest(Lane lane) {
  std::optional<Dealer>* oldest = nullptr;
  for (auto& [id, link] : links_) {
    auto& dealer = link.dealers[index(lane)];
    if (dealer && (!oldest || dealer->used < (*oldest)->used)) oldest = &dealer;
  }
  if (!oldest) return false;
  drop_dealer(*oldest, lane, kEvictLinger);
  ++stats_.evicted;
  return true;
}

void Transport::Impl::make_room(Lane lane) {
  const auto most = lane == Lane::kControl ? options_.max_control : options_.max_data;
  while (dealers_[index(lane)] >= std::max<std::size_t>(most, 1)) evict_oldest(lane);
  if (!descriptors_run_out(limits::kDescriptorReserve)) return;
  ++stats_.starved;
  if (!evict_oldest(lane)) evict_oldest(lane == Lane::kControl ? Lane::kData : Lane::kControl);
}

Result<void> Transport::Impl::open_dealer(Link& link, Lane lane) {
  make_room(lane);
  auto socket = make_dealer(context_, lane, RoutingId::peer(options_.node, dealers_made_++),
                            Threads::kOneForEachLane);
  if (!socket) return fail(socket.error());
  if (auto dialled = dial(*socket, *link.endpoints[index(lane)]); !dialled) return dialled;
  link.dealers[index(lane)].emplace(Dealer{std::move(*socket), now_, false});
  ++dealers_[index(lane)];
  ++stats_.dealers;
  return {};
}

Dealer* Transport::Impl::dealer_of(const LaneOf& lane) {
  const auto found = links_.find(lane.link);
  if (found == links_.end()) return nullptr;
  auto& dealer = found->second.dealers[index(lane.lane)];
  return dealer ? &*dealer : nullptr;
}

Sent Transport::Impl::send(LinkId id, Lane lane, Bytes& frame) {
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.endpoints[index(lane)]) return Sent::kClosed;
  auto& dealer = found->second.dealers[index(lane)];
  if (!dealer && !open_dealer(found->second, lane)) return Sent::kClosed;
  if (dealer->full) return Sent::kFull;
  const auto size = frame.size();
  const auto outcome = put_frame(dealer->socket, frame, spare_);
  if (outcome == Put::kDone) {
    dealer->used = now_;
    count_sent(size);
  }
  if (outcome == Put::kFull) {
    dealer->full = true;
    full_.push_back({id, lane});
  }
  return sent(outcome);
}

Sent Transport::Impl::reply(const RoutingId& client, Bytes& frame) {
  // A peer is never answered here, whatever its routing id asks for.
  if (!client.is_client() || !routers_[0]) return Sent::kClosed;
  const auto size = frame.size();
  const auto outcome = put_frame_to(routers_[0], client, frame);
  if (outcome == Put::kDone) count_sent(size);
  return sent(outcome);
}

void Transport::Impl::count_sent(std::size_t bytes) {
  traffic_->sent_frames.fetch_add(1, std::memory_order_relaxed);
  traffic_->sent_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void Transport::Impl::gather_items() {
  items_.clear();
  items_.push_back({nullptr, waker_.fd(), ZMQ_POLLIN, 0});
  for (auto& router : routers_) items_.push_back({router.handle(), 0, ZMQ_POLLIN, 0});
  items_.push_back({endings_.handle(), 0, ZMQ_POLLIN, 0});
  for (const int fd : watched_) {
    if (fd >= 0) items_.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  }
}

Turn Transport::Impl::poll(Nanos at_most, TransportEvents& events) {
  if (!routers_[0]) return {};
  gather_items();
  const auto fixed = items_.size();
  for (const auto& lane : full_) {
    // Its DEALER was closed meanwhile: the next one has room.
    const auto* dealer = dealer_of(lane);
    if (!dealer) at_most = Nanos{0};
    if (dealer) items_.push_back({const_cast<void*>(dealer->socket.handle()), 0, ZMQ_POLLOUT, 0});
  }
  const int ready = zmq_poll(items_.data(), static_cast<int>(items_.size()), wait_ms(at_most));
  now_ = now();
  Turn turn;
  if (ready > 0) {
    turn.woken = items_[0].revents != 0 && waker_.clear();
    const bool data_ready = items_[2].revents != 0;
    // Before the frames: one of them may come over a descriptor that was another's.
    if (items_[3].revents != 0) {
      for (const auto& node : endings_.take()) events.on_ended(node);
    }
    for (auto at = kFirstWatched; at < fixed; ++at) {
      if (items_[at].revents != 0) events.on_readable(items_[at].fd);
    }
    if (items_[1].revents != 0) turn.more = drain(Lane::kControl, events);
    if (data_ready && drain(Lane::kData, events)) turn.more = true;
  }
  if (!full_.empty()) tell_room(events);
  return turn;
}

// Asks each socket anew, since the callbacks before may have closed some. Room found is taken off
// the list before its owner is told: the owner may fill it again at once.
void Transport::Impl::tell_room(TransportEvents& events) {
  std::vector<LaneOf> roomy;
  std::erase_if(full_, [&](const LaneOf& lane) {
    auto* dealer = dealer_of(lane);
    if (dealer && (dealer->socket.get(zmq::sockopt::events) & ZMQ_POLLOUT) == 0) return false;
    if (dealer) dealer->full = false;
    roomy.push_back(lane);
    return true;
  });
  for (const auto& lane : roomy) {
    if (links_.contains(lane.link)) events.on_room(lane.link, lane.lane);
  }
}

// True if the lane's share of the turn is used up.
bool Transport::Impl::drain(Lane lane, TransportEvents& events) {
  auto& router = routers_[index(lane)];
  std::size_t bytes = 0;
  zmq::message_t id;
  zmq::message_t rest;
  for (std::size_t frames = 0; frames < limits::kTurnFrames && bytes < limits::kTurnBytes;
       ++frames) {
    if (!take_part(router, id)) return false;
    zmq::message_t body;
    const bool has_body = id.more() && take_part(router, body);
    const bool one_part = has_body && !body.more();
    for (bool more = has_body && body.more(); more; more = rest.more()) {
      if (!take_part(router, rest)) break;
      bytes += rest.size();
    }
    bytes += body.size();
    const auto from = RoutingId::parse({id.data<char>(), id.size()});
    if (!one_part || !from) {
      ++stats_.malformed;
      continue;
    }
    if (lane == Lane::kControl) endings_.heard(*from, body);
    traffic_->received_frames.fetch_add(1, std::memory_order_relaxed);
    traffic_->received_bytes.fetch_add(body.size(), std::memory_order_relaxed);
    events.on_frame(lane, *from, Frame(std::move(body)));
  }
  return true;
}

void Transport::Impl::close(Millis flush) {
  for (auto& [id, link] : links_) {
    for (const auto lane : kLanes) drop_dealer(link.dealers[index(lane)], lane, flush);
  }
  links_.clear();
  full_.clear();
  for (auto& router : routers_) close_socket(router, flush);
  endings_.close();
  context_.close();  // waits for the flush, and until the ports are free
}

Result<Transport> Transport::open(const TransportOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (auto bound = impl->bind(); !bound) return fail(bound.error());
  return Transport(std::move(impl));
}

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Transport::Transport(Transport&&) noexcept = default;

Transport::~Transport() {
  // In a forked child the threads that would do the closing don't exist: the sockets are the
  // parent's.
  if (impl_ && !impl_->is_ours()) static_cast<void>(impl_.release());
}

const Endpoint& Transport::control_endpoint() const { return impl_->control_at_; }
const Endpoint& Transport::data_endpoint() const { return impl_->data_at_; }
Result<LinkId> Transport::open_link(const Endpoint& control, const std::optional<Endpoint>& data) {
  return impl_->open_link(control, data);
}
Result<void> Transport::set_data_endpoint(LinkId link, const Endpoint& data) {
  return impl_->set_data_endpoint(link, data);
}
void Transport::close_link(LinkId link) { impl_->close_link(link); }
void Transport::close_idle(Nanos idle) { impl_->close_idle(idle); }
Sent Transport::send(LinkId link, Lane lane, Bytes& frame) {
  return impl_->send(link, lane, frame);
}
Sent Transport::reply(const RoutingId& client, Bytes& frame) { return impl_->reply(client, frame); }
Turn Transport::poll(Nanos at_most, TransportEvents& events) {
  return impl_->poll(at_most, events);
}
std::vector<Bytes> Transport::take_spare() { return impl_->spare_->take(); }
void Transport::watch(std::span<const int> fds) { impl_->watch(fds); }
void Transport::wake() { impl_->waker_.wake(); }
TransportStats Transport::stats() const { return impl_->stats_; }
void Transport::close(Millis flush) { impl_->close(flush); }

}  // namespace headrace::transport
