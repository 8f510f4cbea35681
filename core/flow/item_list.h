// Items of a window in the order they were sent, each with a value: the receiver's held items, the
// sender's flights. Flat, amortised O(1) for what is added at the end and taken out near it, O(log
// n) at worst; an item that stays for hours while millions pass holds no memory but its own.
//
// Owned by one end of a window. Memory: at most twice the items within, and 64.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/wire/window.h"

namespace headrace {

template <typename T>
class ItemList final {
 public:
  std::size_t size() const { return entries_.size() - gone_; }
  bool empty() const { return size() == 0; }
  // In memory, those of items that are gone included.
  std::size_t places() const { return entries_.size(); }

  // `id` is above all that were ever added since the list was last empty.
  void push_back(const wire::ItemId& id, T value) {
    HEADRACE_CHECK(entries_.empty() || entries_.back().id < id);
    entries_.push_back({id, std::move(value), true});
  }

  T* find(const wire::ItemId& id) {
    const auto at = position(id);
    return at < entries_.size() ? &entries_[at].value : nullptr;
  }
  const T* find(const wire::ItemId& id) const {
    const auto at = position(id);
    return at < entries_.size() ? &entries_[at].value : nullptr;
  }

  std::optional<T> take(const wire::ItemId& id) {
    const auto at = position(id);
    if (at == entries_.size()) return std::nullopt;
    std::optional<T> value{std::move(entries_[at].value)};
    entries_[at].here = false;
    ++gone_;
    if (gone_ > entries_.size() / 2 + 32 || gone_ == entries_.size()) compact();
    return value;
  }

  // Calls with (id, value&) in order.
  template <typename Call>
  void for_each(Call&& call) {
    for (auto& entry : entries_)
      if (entry.here) call(entry.id, entry.value);
  }
  template <typename Call>
  void for_each(Call&& call) const {
    for (const auto& entry : entries_)
      if (entry.here) call(entry.id, entry.value);
  }

  // Removes each for which `chosen(id, value&)` is true; asked once for each, in order.
  template <typename Chosen>
  void remove_if(Chosen&& chosen) {
    std::erase_if(entries_,
                  [&](Entry& entry) { return !entry.here || chosen(entry.id, entry.value); });
    gone_ = 0;
  }

 private:
  struct Entry {
    wire::ItemId id;
    T value;
    bool here;
  };

  // entries_.size() if it is not here.
  std::size_t position(const wire::ItemId& id) const {
    if (entries_.empty()) return 0;
    const auto& first = entries_.front().id;
    const auto guess = id.n - first.n;  // right while nothing between was removed or lost
    if (guess < entries_.size() && entries_[guess].id == id)
      return entries_[guess].here ? guess : entries_.size();
    const auto found = std::lower_bound(
        entries_.begin(), entries_.end(), id,
        [](const Entry& entry, const wire::ItemId& key) { return entry.id < key; });
    if (found == entries_.end() || found->id != id || !found->here) return entries_.size();
    return static_cast<std::size_t>(found - entries_.begin());
  }

  void compact() {
    std::erase_if(entries_, [](const Entry& entry) { return !entry.here; });
    gone_ = 0;
  }

  std::vector<Entry> entries_;  // ascending; some are gone already
  std::size_t gone_ = 0;
};

}  // namespace headrace
