// Between the Peer and the event plane: shut, it lets no more events in, so that the callbacks of a
// node that is closing come to an end.
#pragma once

#include <memory>

#include "core/peer/event_port.h"

namespace headrace::runtime {

class EventGate final : public EventPort {
 public:
  explicit EventGate(EventPort& inside) : inside_(inside) {}

  void shut() { shut_ = true; }

  void set_member(const NodeId& node, Incarnation life, BytesView registrations) override {
    inside_.set_member(node, life, registrations);
  }
  void remove_member(const NodeId& node) override { inside_.remove_member(node); }
  void receive(const job::Now& now, const NodeId& from, Incarnation life, BytesView message,
               const std::shared_ptr<const void>& frame) override {
    if (!shut_) inside_.receive(now, from, life, message, frame);
  }

 private:
  EventPort& inside_;
  bool shut_ = false;
};

}  // namespace headrace::runtime
