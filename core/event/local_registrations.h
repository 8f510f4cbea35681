// LocalRegistrations: a node's own registrations, and which of them an event that arrived is
// offered to.
//
// The publisher decided how far up the event goes; its depth says so (see EventRouter). Offered are
// the sinks on the walk from the topic up to the root, and of the others those at that depth or
// more specific. With the publisher's view up to date none is more specific; one it does not know
// yet is offered the event all the same.
//
// The answer for each topic and the depth last asked for is cached (publishers differ only while
// their views converge); adding or removing a registration voids them. Plain state with one owner
// (the node's loop). Limits: limits::kRegistrations, limits::kRouteCacheBytes of answers.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/event/registration.h"
#include "core/event/registration_advert.h"
#include "core/topic/topic_cache.h"
#include "core/topic/topic_tree.h"

namespace headrace {

class LocalRegistrations final {
 public:
  // What the advert says of that topic from now on, if that changed: for EventRouter::set_interest.
  using Changed = std::optional<Interest>;

  // kFull at the limit. `id` must be new.
  Result<Changed> add(LocalRegistration registration);
  // kNotFound if there is none of that id.
  Result<Changed> remove(RegistrationId id);
  const LocalRegistration* find(RegistrationId id) const;
  std::size_t size() const { return by_id_.size(); }

  // In the order of ids; none if no registration here wants it (answer `gone`). kInvalid if
  // `topic`, which may have come from a peer, is no topic. Valid until the next call that is not
  // const, and the next offered().
  Result<std::span<const RegistrationId>> offered(std::string_view topic, unsigned depth);

  // Valid until the next call of add() or remove().
  const RegistrationAdvert& advert();
  std::uint64_t version() const { return version_; }

 private:
  struct Entry {
    RegistrationId id;
    bool sink;
  };
  struct Here {
    std::vector<Entry> entries;
    bool empty() const { return entries.empty(); }
  };
  struct Answer {
    unsigned depth = 0;
    std::vector<RegistrationId> ids;
  };
  struct Counts {
    std::size_t plain = 0;
    std::size_t sink = 0;
    bool operator==(const Counts&) const = default;
  };

  // Counts a registration in or out.
  Changed count(const LocalRegistration& registration, bool in);
  std::vector<RegistrationId> find_offered(std::string_view topic, unsigned depth) const;

  std::unordered_map<RegistrationId, LocalRegistration> by_id_;
  TopicTree<Here> tree_;
  std::map<std::string, Counts> counts_;  // by topic, as in the advert
  std::uint64_t version_ = 0;
  RegistrationAdvert advert_;
  TopicCache<Answer> answers_{limits::kRouteCacheBytes};
};

}  // namespace headrace
