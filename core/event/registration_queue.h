// RegistrationQueue: the events that wait for one registration's callbacks, as batches: what came
// in one frame stays together, its memory is shared, and a worker takes it at once.
//
// Owned by EventIntake. Plain state. Charged for a batch are the bytes that it keeps alive, so the
// bound holds however small the events are that a registration picks out of large frames; a batch
// counts until finish(), callbacks included.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/event/registration.h"
#include "core/flow/byte_window.h"
#include "core/wire/event.h"

namespace headrace {

// Where events came from.
struct EventOrigin {
  NodeId node;
  Incarnation life = 0;
  std::shared_ptr<const void> hold;  // keeps what the events look into
  std::size_t bytes = 0;             // that `hold` keeps
};

struct EventBatch {
  EventOrigin origin;
  std::vector<wire::Event> events;  // payloads in place, never in blobs
  std::size_t next = 0;             // the first whose callback has not run
  std::size_t charge = 0;
};

class RegistrationQueue final {
 public:
  explicit RegistrationQueue(RegistrationId id) : id_(id) {}

  RegistrationId id() const { return id_; }
  bool empty() const { return batches_.empty(); }
  std::size_t charge() const { return charge_; }

  bool fits(const EventOrigin& origin) const {
    return charge_ == 0 || charge_ + cost(origin) <= limits::kRegistrationQueueBytes;
  }
  // `expect` events of that origin are likely; `spare` gives their memory.
  void push(const EventOrigin& origin, const wire::Event& event, std::size_t expect,
            std::vector<std::vector<wire::Event>>& spare, MonoTime now);
  // Not when empty(). Give it to finish(), or to put_back() if it was not run to its end.
  EventBatch take();
  void finish(const EventBatch& batch) { charge_ -= batch.charge; }
  void put_back(EventBatch batch) { batches_.push_front(std::move(batch)); }

  // Whether its callbacks get anywhere, of which `ended` have ended so far: one did in the last
  // kLaneStall, or had no reason to.
  bool moving(std::uint64_t ended, MonoTime now);

  bool scheduled = false;  // a worker takes from it, or is about to

 private:
  bool joins(const EventOrigin& origin) const {
    return !batches_.empty() && batches_.back().origin.hold == origin.hold;
  }
  std::size_t cost(const EventOrigin& origin) const {
    return sizeof(wire::Event) + (joins(origin) ? 0 : origin.bytes + sizeof(EventBatch));
  }

  RegistrationId id_;
  std::deque<EventBatch> batches_;
  std::size_t charge_ = 0;
  std::uint64_t ended_ = 0;  // when last asked
  MonoTime moved_at_{};
};

}  // namespace headrace
