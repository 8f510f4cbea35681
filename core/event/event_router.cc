#include "core/event/event_router.h"

#include <algorithm>

#include "core/base/utf8.h"

namespace headrace {
namespace {

tl::unexpected<Error> bad_advert(std::string why) {
  return fail(Code::kProtocol, "advert of registrations: " + std::move(why));
}

}  // namespace

// What setting `advert` would change, or what is wrong with it.
Result<std::vector<EventRouter::Change>> EventRouter::changes(
    const Known* known, const RegistrationAdvert& advert) const {
  const auto& interests = advert.interests;
  if (interests.size() > limits::kRegistrations) {
    return bad_advert(std::to_string(interests.size()) + " topics, more than " +
                      std::to_string(limits::kRegistrations));
  }
  std::vector<Change> changes;
  std::size_t stay = 0;
  for (std::size_t i = 0; i < interests.size(); ++i) {
    const auto& [topic, plain, sink] = interests[i];
    if (!plain && !sink) return bad_advert(shown(topic) + " has no registration");
    if (i > 0 && interests[i - 1].topic >= topic)
      return bad_advert(shown(topic) + " is out of order");
    const Flags flags{plain, sink};
    if (known != nullptr) {
      const auto at = known->interests.find(topic);
      if (at != known->interests.end()) ++stay;
      if (at != known->interests.end() && at->second == flags) continue;
    }
    auto pattern = TopicPattern::parse(topic);
    if (!pattern) return bad_advert(pattern.error().message);
    changes.push_back({std::move(*pattern), flags});
  }
  if (known == nullptr || stay == known->interests.size()) return changes;
  const auto by_topic = [](const Interest& interest, const std::string& topic) {
    return interest.topic < topic;
  };
  for (const auto& [topic, flags] : known->interests) {
    const auto at = std::lower_bound(interests.begin(), interests.end(), topic, by_topic);
    if (at == interests.end() || at->topic != topic)
      changes.push_back({*TopicPattern::parse(topic), {}});
  }
  return changes;
}

Result<void> EventRouter::set_advert(NodeId node, const RegistrationAdvert& advert) {
  const auto before = known_.find(node);
  const auto todo = changes(before == known_.end() ? nullptr : &before->second, advert);
  if (!todo) return fail(todo.error());
  Known& known = known_[node];
  known.version = advert.version;
  for (const auto& change : *todo) apply(node, known, change);
  return {};
}

Result<void> EventRouter::set_interest(NodeId node, const Interest& interest) {
  auto pattern = TopicPattern::parse(interest.topic);
  if (!pattern) return fail(std::move(pattern.error()));
  apply(node, known_[node], {std::move(*pattern), {interest.plain, interest.sink}});
  return {};
}

void EventRouter::remove(NodeId node) {
  const auto at = known_.find(node);
  if (at == known_.end()) return;
  const Known known = std::move(at->second);
  known_.erase(at);
  Known nothing;
  for (const auto& [topic, flags] : known.interests) {
    apply(node, nothing, {*TopicPattern::parse(topic), {}});
  }
}

void EventRouter::gone(NodeId node, std::string_view topic, unsigned depth, std::uint64_t version) {
  const auto at = known_.find(node);
  if (at == known_.end() || at->second.version >= version || !Topic::check(topic)) return;
  std::vector<Change> todo;
  tree_.walk(topic, [&](std::size_t level, const Standing& standing) {
    const auto known = at->second.interests.find(standing.topic);
    if (known == at->second.interests.end()) return;
    const Flags left{known->second.plain && level < depth, false};
    if (left != known->second) todo.push_back({*TopicPattern::parse(standing.topic), left});
  });
  for (const auto& change : todo) apply(node, at->second, change);
}

void EventRouter::apply(NodeId node, Known& known, const Change& change) {
  routes_.clear();
  ++changes_;
  const auto& topic = change.pattern.text();
  Standing& standing = tree_.at(change.pattern);
  standing.topic = topic;
  auto& holders = standing.holders;
  const auto at =
      std::lower_bound(holders.begin(), holders.end(), node,
                       [](const Holder& holder, NodeId id) { return holder.node < id; });
  const bool held = at != holders.end() && at->node == node;
  if (change.flags.any()) {
    known.interests.insert_or_assign(topic, change.flags);
    if (held) {
      at->flags = change.flags;
    } else {
      holders.insert(at, {node, change.flags});
    }
    return;
  }
  known.interests.erase(topic);
  if (held) holders.erase(at);
  tree_.prune(change.pattern);
}

Route EventRouter::find_route(std::string_view topic) const {
  std::size_t delivered = 0;
  tree_.walk(topic,
             [&](std::size_t level, const Standing&) { delivered = std::max(delivered, level); });
  Route route;
  route.depth = static_cast<unsigned>(delivered);
  tree_.walk(topic, [&](std::size_t level, const Standing& standing) {
    for (const auto& [node, flags] : standing.holders) {
      if (level == delivered || flags.sink) route.remotes.push_back(node);
    }
  });
  auto& remotes = route.remotes;
  std::sort(remotes.begin(), remotes.end());
  remotes.erase(std::unique(remotes.begin(), remotes.end()), remotes.end());
  const auto self = std::lower_bound(remotes.begin(), remotes.end(), self_);
  if (self != remotes.end() && *self == self_) {
    route.local = true;
    remotes.erase(self);
  }
  return route;
}

Result<const Route*> EventRouter::route(std::string_view topic) {
  if (const Route* known = routes_.find(topic)) return known;
  if (auto valid = Topic::check(topic); !valid) return fail(std::move(valid.error()));
  Route route = find_route(topic);
  route.remotes.shrink_to_fit();
  const auto bytes = route.remotes.size() * sizeof(NodeId);
  return &routes_.put(topic, std::move(route), bytes);
}

std::size_t EventRouter::match_count(std::string_view topic) {
  const auto found = route(topic);
  return found ? (*found)->destinations() : 0;
}

}  // namespace headrace
