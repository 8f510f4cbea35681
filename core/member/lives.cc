#include "core/member/lives.h"

namespace headrace {

LifeRef Lives::find_or_keep(NodeId id, Incarnation incarnation,
                            const std::shared_ptr<const wire::Description>& about) {
  const auto [first, last] = lives_.equal_range(id);
  for (auto at = first; at != last; ++at) {
    const Life& life = at->second.life;
    if (life.incarnation != incarnation) continue;
    if (life.about == about || *life.about == *about) return LifeRef(&at->second);
  }
  const auto at = lives_.emplace(id, LifeRef::Kept{{id, incarnation, about}, this, 0});
  return LifeRef(&at->second);
}

void Lives::drop(const LifeRef::Kept* kept) {
  const auto [first, last] = lives_.equal_range(kept->life.id);
  for (auto at = first; at != last; ++at) {
    if (&at->second != kept) continue;
    lives_.erase(at);
    return;
  }
}

}  // namespace headrace
