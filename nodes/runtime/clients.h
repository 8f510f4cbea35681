// Clients: carries out at the event plane what clients of this node ask for: events to hear, events
// to publish.
//
// Owned by the loop and called by its thread. Events for clients come from workers through `post`,
// which runs a task on the loop. What a client does not take in time is dropped, in the transport
// or here.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>

#include "core/peer/actions.h"
#include "core/peer/peer.h"
#include "nodes/runtime/event_plane.h"

namespace headrace::runtime {

class Clients final {
 public:
  // The Peer that asked, if it still lives, is what `with_peer` calls its argument with.
  using WithPeer = std::function<void(const std::function<void(Peer&)>&)>;
  using Post = std::function<void(std::function<void()>)>;  // any thread

  Clients(EventPlane& plane, WithPeer with_peer, Post post);
  ~Clients();
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // kInvalid, kFull: the client hears nothing then.
  Result<void> subscribe(const ClientSubscribe& wanted);
  void unsubscribe(const ClientUnsubscribe& unwanted);
  void publish(const ClientPublish& event);

 private:
  struct Inner;

  EventPlane& plane_;
  const std::shared_ptr<Inner> inner_;  // what callbacks still hold when this has ended
  std::unordered_map<std::uint64_t, RegistrationId> registrations_;  // by subscription
};

}  // namespace headrace::runtime
