#include "nodes/runtime/discovery.h"

#include <algorithm>
#include <utility>

#include "transport/endpoint.h"

namespace headrace::runtime {

namespace {

// Each second at first, since a datagram may be lost and others may just be starting; then only for
// those whom a partition kept apart.
constexpr unsigned kFirst = 4;
constexpr Millis kFirstEvery{1'000};
constexpr Millis kEvery{5'000};
// Of each member, so that all beacons of a cluster together are some twenty a second.
constexpr Millis kEveryForEach{50};
constexpr Millis kLookEvery{5'000};
constexpr Millis kOpenAgain{5'000};

// Datagrams taken a second, and at once; what is beyond is the kernel's to drop.
constexpr double kTaken = 200;
constexpr Millis kDeafFor{100};

}  // namespace

Discovery::Discovery(DiscoveryOptions options, DiscoveryHooks hooks, std::uint64_t seed)
    : options_(std::move(options)), hooks_(std::move(hooks)), random_(seed) {}

void Discovery::start(MonoTime now) {
  if (options_.beacon_port == 0) return;
  tokens_ = kTaken;
  filled_ = now;
  look_at_ = now + kLookEvery;
  say_at_ = now;
}

void Discovery::stop() {
  beacon_.reset();
  say_at_ = look_at_ = kNever;
}

void Discovery::open_beacon(MonoTime now) {
  auto opened = transport::Beacon::open(options_.beacon_port, options_.reach);
  if (opened) {
    beacon_.emplace(std::move(*opened));
    return;
  }
  say_at_ = now + kOpenAgain;
  if (!std::exchange(noted_, true)) hooks_.note(opened.error().message);
}

void Discovery::say(MonoTime now, std::size_t live) {
  if (!beacon_) open_beacon(now);
  if (!beacon_) return;
  Bytes packet;
  encode(packet, options_.self);
  beacon_->send(packet);
  const Nanos base = ++said_ < kFirst ? kFirstEvery : kEvery;
  const Nanos every = std::max<Nanos>(base, kEveryForEach * live);
  // A quarter either way, so that nodes do not speak in step.
  say_at_ = now + every + Nanos{random_.between(-every.count() / 4, every.count() / 4)};
}

void Discovery::listen(MonoTime now) {
  const std::chrono::duration<double> passed = now - filled_;
  filled_ = now;
  tokens_ = std::min(kTaken, tokens_ + passed.count() * kTaken);
  deaf_ = false;
  while (tokens_ >= 1) {
    const auto datagram = beacon_->take();
    if (!datagram) return;
    tokens_ -= 1;
    take(*datagram);
  }
  deaf_ = true;
}

void Discovery::take(const transport::Beacon::Datagram& datagram) {
  const auto packet = wire::decode_beacon(datagram.bytes);
  if (!packet) {
    ++stats_.malformed;
    return;
  }
  if (packet->cluster != options_.self.cluster) {
    ++stats_.others;
    return;
  }
  if (packet->node == options_.self.node) return;
  const transport::Endpoint at{packet->host.empty() ? datagram.source : packet->host, packet->port};
  // No name to be looked up for a stranger, and no loopback address from another machine.
  const bool here = options_.reach == transport::BeaconReach::kLoopback;
  if (!at.is_numeric() || at.is_wildcard() || at.is_loopback() != here) {
    ++stats_.malformed;
    return;
  }
  ++stats_.heard;
  hooks_.heard(packet->node, at.text());
}

void Discovery::ended(const NodeId& node, const std::string& endpoint, MonoTime now) {
  if (const auto at = transport::Endpoint::parse(endpoint)) knocker_.knock(node, *at, now);
}

void Discovery::tick(MonoTime now, std::size_t live) {
  if (knocker_.fd() >= 0) {
    for (const auto& node : knocker_.tick(now)) hooks_.refused(node);
  }
  if (beacon_ && look_at_ <= now) {
    look_at_ = now + kLookEvery;
    beacon_->look_around();
  }
  if (say_at_ <= now) say(now, live);
  const bool listens = deaf_ ? now >= filled_ + kDeafFor : std::exchange(ready_, false);
  if (beacon_ && listens) listen(now);
}

MonoTime Discovery::next() const {
  auto next = std::min({knocker_.next(), say_at_, beacon_ ? look_at_ : kNever});
  if (deaf_) next = std::min<MonoTime>(next, filled_ + kDeafFor);
  return next;
}

std::array<int, 2> Discovery::fds() const {
  return {knocker_.fd(), beacon_ && !deaf_ ? beacon_->fd() : -1};
}

}  // namespace headrace::runtime
