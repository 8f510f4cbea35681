// Lives: what beliefs have in common. A life is one start of a node and what it said of itself
// then. It never changes, so however many beliefs rest on it, it is kept once: as long as one does.
//
// A Membership has its own; the simulator hands the same to thousands of them. Used by one thread;
// must outlive every reference.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/wire/member.h"

namespace headrace {

class Lives;

struct Life {
  NodeId id;
  Incarnation incarnation = 0;
  std::shared_ptr<const wire::Description> about;
};

// Keeps a life in its Lives. Empty only when default-made or moved from.
class LifeRef final {
 public:
  LifeRef() = default;
  LifeRef(const LifeRef& other) : kept_(other.kept_) {
    if (kept_ != nullptr) ++kept_->uses;
  }
  LifeRef(LifeRef&& other) noexcept : kept_(std::exchange(other.kept_, nullptr)) {}
  LifeRef& operator=(LifeRef other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~LifeRef();

  const Life& operator*() const { return kept_->life; }
  const Life* operator->() const { return &kept_->life; }

 private:
  friend class Lives;
  struct Kept {
    Life life;
    Lives* home;
    std::uint32_t uses;
  };
  explicit LifeRef(Kept* kept) : kept_(kept) { ++kept_->uses; }

  Kept* kept_ = nullptr;
};

class Lives final {
 public:
  Lives() = default;
  Lives(const Lives&) = delete;
  Lives& operator=(const Lives&) = delete;

  // The life that equals this one; kept from now on if there was none. `about` is never null.
  LifeRef find_or_keep(NodeId id, Incarnation incarnation,
                       const std::shared_ptr<const wire::Description>& about);
  std::size_t size() const { return lives_.size(); }

 private:
  friend class LifeRef;
  void drop(const LifeRef::Kept* kept);

  // More than one of a node: while some still hold an earlier start for the present one.
  std::unordered_multimap<NodeId, LifeRef::Kept> lives_;
};

inline LifeRef::~LifeRef() {
  if (kept_ != nullptr && --kept_->uses == 0) kept_->home->drop(kept_);
}

}  // namespace headrace
