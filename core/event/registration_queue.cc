#include "core/event/registration_queue.h"

#include <algorithm>

namespace headrace {

void RegistrationQueue::push(const EventOrigin& origin, const wire::Event& event,
                             std::size_t expect, std::vector<std::vector<wire::Event>>& spare,
                             MonoTime now) {
  const auto more = cost(origin);
  if (charge_ == 0) moved_at_ = now;
  if (!joins(origin)) {
    EventBatch& batch = batches_.emplace_back();
    batch.origin = origin;
    if (!spare.empty()) {
      batch.events = std::move(spare.back());
      spare.pop_back();
    }
    batch.events.reserve(expect);
  }
  EventBatch& batch = batches_.back();
  batch.events.push_back(event);
  batch.charge += more;
  charge_ += more;
}

EventBatch RegistrationQueue::take() {
  EventBatch batch = std::move(batches_.front());
  batches_.pop_front();
  return batch;
}

bool RegistrationQueue::moving(std::uint64_t ended, MonoTime now) {
  if (ended != ended_) {
    ended_ = ended;
    moved_at_ = now;
  }
  return now - moved_at_ < kLaneStall;
}

}  // namespace headrace
