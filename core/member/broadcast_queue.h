// Gossip that waits to be told. One slot per subject and sort (state, advert): a newer sentence
// replaces the older, so the queue is bounded by the number of members. The least told go first,
// among them the newest; what a node says of itself goes before all. Each is told a bounded number
// of times and then dropped.
#pragma once

#include <cstddef>
#include <map>
#include <unordered_map>
#include <vector>

#include "core/wire/member.h"

namespace headrace {

class BroadcastQueue final {
 public:
  void put(wire::Update update, bool first);
  // Appends updates of at most `budget` encoded bytes to `out`, and drops those told `limit` times.
  void take(std::size_t budget, unsigned limit, std::vector<wire::Update>& out);
  void forget(NodeId subject);
  void clear();
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Order {
    bool behind = true;  // false for what goes first
    unsigned told = 0;
    std::uint64_t age = 0;  // counts down: newer is smaller
    auto operator<=>(const Order&) const = default;
  };
  struct Entry {
    wire::Update update;
    std::size_t size = 0;
    Order* slot = nullptr;  // its own, in slots_
  };
  struct Subject {
    NodeId id;
    bool advert = false;
    bool operator==(const Subject&) const = default;
  };
  struct HashSubject {
    std::size_t operator()(const Subject& subject) const {
      return std::hash<NodeId>{}(subject.id) * 2 + (subject.advert ? 1 : 0);
    }
  };

  static Subject subject_of(const wire::Update& update) {
    return {update.id, update.kind == wire::UpdateKind::kAdvert};
  }

  std::map<Order, Entry> entries_;
  std::unordered_map<Subject, Order, HashSubject> slots_;  // never iterated
  std::uint64_t age_ = UINT64_MAX;
};

}  // namespace headrace
