#include "core/member/broadcast_queue.h"

#include <utility>

namespace headrace {

void BroadcastQueue::put(wire::Update update, bool first) {
  const auto subject = subject_of(update);
  const auto at = slots_.find(subject);
  if (at != slots_.end()) entries_.erase(at->second);
  const Order order{!first, 0, --age_};
  slots_[subject] = order;
  const auto size = wire::encoded_size(update);
  entries_.emplace(order, Entry{std::move(update), size});
}

void BroadcastQueue::take(std::size_t budget, unsigned limit, std::vector<wire::Update>& out) {
  std::vector<std::pair<Order, Entry>> again;
  while (!entries_.empty()) {
    const auto at = entries_.begin();
    if (at->second.size > budget) break;
    budget -= at->second.size;
    out.push_back(at->second.update);
    auto node = entries_.extract(at);
    node.key().told += 1;
    if (node.key().told < limit) {
      again.emplace_back(node.key(), std::move(node.mapped()));
    } else {
      slots_.erase(subject_of(out.back()));
    }
  }
  for (auto& [order, entry] : again) {
    slots_[subject_of(entry.update)] = order;
    entries_.emplace(order, std::move(entry));
  }
}

void BroadcastQueue::forget(NodeId subject) {
  for (const bool advert : {false, true}) {
    const auto at = slots_.find({subject, advert});
    if (at == slots_.end()) continue;
    entries_.erase(at->second);
    slots_.erase(at);
  }
}

void BroadcastQueue::clear() {
  entries_.clear();
  slots_.clear();
}

}  // namespace headrace
