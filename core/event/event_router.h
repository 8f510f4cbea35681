// EventRouter: where an event goes. The publisher decides for the whole cluster, over the adverts
// of all members, itself included.
//
// The walk goes from the exact topic up to the root `*`. The *delivered depth* is the level (see
// TopicTree) of the most specific topic at which anybody holds a registration, sink or not.
// Everything there is offered the event, and above it the sinks are. A pattern stands at the exact
// level of each topic that it matches, so an event that one matches is delivered there. The depth
// travels with the event, and each destination offers by it (LocalRegistrations): a node whose
// registration the publisher does not know yet loses nothing.
//
// Answers are cached by topic; any change of an advert voids them. Plain state with one owner (the
// node's loop). Limits: limits::kRegistrations a member, limits::kRouteCacheBytes of answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/event/registration_advert.h"
#include "core/topic/topic_cache.h"
#include "core/topic/topic_tree.h"

namespace headrace {

struct Route {
  unsigned depth = 0;           // delivered depth; meaningless without destinations
  bool local = false;           // this node is one of the destinations
  std::vector<NodeId> remotes;  // the others, ascending

  std::size_t destinations() const { return remotes.size() + (local ? 1 : 0); }
  bool operator==(const Route&) const = default;
};

class EventRouter final {
 public:
  explicit EventRouter(NodeId self) : self_(self) {}

  // Replaces what is known of `node`. kProtocol, with nothing changed, if the advert breaks its
  // rules.
  Result<void> set_advert(NodeId node, const RegistrationAdvert& advert);
  // Replaces one interest; none if neither flag is set. For this node's own, which change one at a
  // time.
  Result<void> set_interest(NodeId node, const Interest& interest);
  // A member is gone, or begins a new life.
  void remove(NodeId node);
  // `node`, whose advert has that version, offered the event to nobody: it holds none of what made
  // it a destination. Ignored if its advert of that version is known already.
  void gone(NodeId node, std::string_view topic, unsigned depth, std::uint64_t version);

  // kInvalid if `topic` is not a valid topic: this is where a publish is checked. No destinations
  // is no error. Never null; valid until the next call that is not const, and the next route().
  Result<const Route*> route(std::string_view topic);
  // Grows whenever an answer of route() may be another than before.
  std::uint64_t changes() const { return changes_; }
  // Destinations of an event there; 0 for what is no topic.
  std::size_t match_count(std::string_view topic);

 private:
  struct Flags {
    bool plain = false;
    bool sink = false;
    bool any() const { return plain || sink; }
    bool operator==(const Flags&) const = default;
  };
  struct Holder {
    NodeId node;
    Flags flags;
  };
  // Who holds registrations at one topic or pattern.
  struct Standing {
    std::string topic;
    std::vector<Holder> holders;  // by node

    bool empty() const { return holders.empty(); }
  };
  struct Known {
    std::uint64_t version = 0;
    std::unordered_map<std::string, Flags, StringHash, std::equal_to<>> interests;
  };
  struct Change {
    TopicPattern pattern;
    Flags flags;
  };

  Result<std::vector<Change>> changes(const Known* known, const RegistrationAdvert& advert) const;
  void apply(NodeId node, Known& known, const Change& change);
  Route find_route(std::string_view topic) const;

  NodeId self_;
  TopicTree<Standing> tree_;
  std::unordered_map<NodeId, Known> known_;
  std::uint64_t changes_ = 0;
  TopicCache<Route> routes_{limits::kRouteCacheBytes};
};

}  // namespace headrace
