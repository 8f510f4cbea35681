#include "core/member/broadcast_queue.h"

#include <utility>

namespace headrace {

void BroadcastQueue::put(wire::Update update, bool first) {
  const auto [at, is_new] = slots_.try_emplace(subject_of(update));
  if (!is_new) entries_.erase(at->second);
  at->second = Order{!first, 0, --age_};
  const auto size = wire::encoded_size(update);
  entries_.emplace(at->second, Entry{std::move(update), size, &at->second});
}

void BroadcastQueue::take(std::size_t budget, unsigned limit, std::vector<wire::Update>& out) {
  std::vector<std::map<Order, Entry>::node_type> again;
  while (!entries_.empty()) {
    const auto at = entries_.begin();
    if (at->second.size > budget) break;
    budget -= at->second.size;
    out.push_back(at->second.update);
    auto node = entries_.extract(at);
    node.key().told += 1;
    if (node.key().told < limit) {
      again.push_back(std::move(node));
    } else {
      slots_.erase(subject_of(out.back()));
    }
  }
  for (auto& node : again) {
    *node.mapped().slot = node.key();
    entries_.insert(std::move(node));
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
