#include "nodes/runtime/clients.h"

#include <utility>

#include "core/base/limits.h"
#include "core/value/value_codec.h"

namespace headrace::runtime {

namespace {

// An event on its way from a worker to the loop.
struct Copy {
  std::uint64_t subscription;
  NodeId node;
  EventId id;
  WallTime time;
  std::uint64_t seq;
  Bytes topic;
  Bytes params;
  Bytes payload;

  std::size_t bytes() const { return sizeof(Copy) + topic.size() + params.size() + payload.size(); }
};

Copy copy(std::uint64_t subscription, const Event& event) {
  return {subscription,
          event.node,
          event.id,
          event.time,
          event.seq,
          Bytes(event.topic),
          encode(event.params).value_or(Bytes{}),  // it was decoded from such bytes
          Bytes(event.payload)};
}

wire::ClientEvent to_wire(const Copy& event) {
  wire::ClientEvent wire;
  wire.subscription = event.subscription;
  wire.node = event.node;
  wire.id = event.id;
  wire.time = event.time;
  wire.seq = event.seq;
  wire.topic = event.topic;
  wire.params = event.params;
  wire.payload.inlined = event.payload;
  return wire;
}

}  // namespace

struct Clients::Inner {
  WithPeer with_peer;
  Post post;
  std::atomic<std::size_t> under_way{0};  // bytes between the workers and the loop
};

Clients::Clients(EventPlane& plane, WithPeer with_peer, Post post)
    : plane_(plane), inner_(std::make_shared<Inner>()) {
  inner_->with_peer = std::move(with_peer);
  inner_->post = std::move(post);
}

Clients::~Clients() {
  for (const auto& [subscription, registration] : registrations_) {
    plane_.remove_registration(registration);
  }
}

Result<void> Clients::subscribe(const ClientSubscribe& wanted) {
  const auto deliver = [inner = inner_, subscription = wanted.subscription](const Event& event) {
    if (inner->under_way.load() > limits::kLinkBytes) return;
    auto shared = std::make_shared<Copy>(copy(subscription, event));
    inner->under_way += shared->bytes();
    inner->post([inner, shared] {
      inner->under_way -= shared->bytes();
      inner->with_peer(
          [&](Peer& peer) { peer.client_event(shared->subscription, to_wire(*shared)); });
    });
  };
  const auto added = plane_.add_registration(wanted.topic, wanted.sink, deliver);
  if (!added) return fail(added.error());
  registrations_.emplace(wanted.subscription, *added);
  return {};
}

// A callback that runs at this moment posts and ends: removing waits for no user's code.
void Clients::unsubscribe(const ClientUnsubscribe& unwanted) {
  const auto found = registrations_.find(unwanted.subscription);
  if (found == registrations_.end()) return;
  plane_.remove_registration(found->second);
  registrations_.erase(found);
}

void Clients::publish(const ClientPublish& event) {
  const auto done = [inner = inner_, number = event.publish](const Result<Published>& published) {
    Result<wire::PublishedBody> body;
    if (published) {
      body = wire::PublishedBody{published->id, published->destinations, published->dropped};
    } else {
      body = fail(published.error());
    }
    inner->with_peer([&](Peer& peer) { peer.client_published(number, body); });
  };
  plane_.publish_async(event.topic, event.params, event.payload, event.patience, done);
}

}  // namespace headrace::runtime
