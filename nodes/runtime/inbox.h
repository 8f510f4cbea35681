// Inbox: the queue by which other threads enter the loop.
//
// push() from any thread; take(), sleep() and close() by the loop. An item costs its producer one
// short lock; the loop takes all there are at once. The loop is woken only if it said that it goes
// to sleep. Bounded by its users: callers hold one of Places each, workers have one job each.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace headrace::runtime {

template <typename Item>
class Inbox final {
 public:
  static constexpr std::size_t kKept = 4096;  // items whose memory a quiet loop holds on to

  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // False once it is closed; `item` is untouched then. Not `urgent`: a loop that sleeps is left
  // asleep, and finds the item when it wakes for another reason.
  bool push(Item&& item, bool urgent = true) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      items_.push_back(std::move(item));
      if (!urgent || !std::exchange(asleep_, false)) return true;
    }
    wake_();
    return true;
  }

  // All there is, in order, into `items`, whose old content is lost and whose memory is used again.
  // The loop is awake.
  void take(std::vector<Item>& items) {
    items.clear();
    if (items.capacity() > kKept) items = {};
    const std::lock_guard lock(mutex_);
    asleep_ = false;
    items_.swap(items);
  }

  // The loop is about to wait: the next push wakes it. False if something is there already.
  bool sleep() {
    const std::lock_guard lock(mutex_);
    asleep_ = items_.empty();
    return asleep_;
  }

  // Nothing comes in any more; what is there can still be taken.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Item> items_;
  bool asleep_ = false;
  bool closed_ = false;
};

}  // namespace headrace::runtime
