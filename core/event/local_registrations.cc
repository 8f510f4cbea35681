#include "core/event/local_registrations.h"

#include <algorithm>

#include "core/base/check.h"

namespace headrace {

Result<LocalRegistrations::Changed> LocalRegistrations::add(LocalRegistration registration) {
  if (by_id_.size() >= limits::kRegistrations) {
    return fail(Code::kFull, "this node has " + std::to_string(limits::kRegistrations) +
                                 " registrations, which is the most; remove some first");
  }
  answers_.clear();
  tree_.at(registration.pattern).entries.push_back({registration.id, registration.sink});
  const auto changed = count(registration, true);
  const auto id = registration.id;
  HEADRACE_CHECK(by_id_.emplace(id, std::move(registration)).second);
  return changed;
}

Result<LocalRegistrations::Changed> LocalRegistrations::remove(RegistrationId id) {
  const auto at = by_id_.find(id);
  if (at == by_id_.end())
    return fail(Code::kNotFound, "no registration has the id " + std::to_string(id));
  answers_.clear();
  const LocalRegistration registration = std::move(at->second);
  by_id_.erase(at);
  std::erase_if(tree_.at(registration.pattern).entries,
                [id](const Entry& entry) { return entry.id == id; });
  tree_.prune(registration.pattern);
  return count(registration, false);
}

const LocalRegistration* LocalRegistrations::find(RegistrationId id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : &at->second;
}

LocalRegistrations::Changed LocalRegistrations::count(const LocalRegistration& registration, bool in) {
  const auto& topic = registration.pattern.text();
  auto& counts = counts_[topic];
  const auto said = [](const Counts& now) { return std::pair(now.plain > 0, now.sink > 0); };
  const auto before = said(counts);
  auto& number = registration.sink ? counts.sink : counts.plain;
  in ? ++number : --number;
  const auto now = said(counts);
  if (now == std::pair(false, false)) counts_.erase(topic);
  if (now == before) return {};
  ++version_;
  return Interest{topic, now.first, now.second};
}

Result<std::span<const RegistrationId>> LocalRegistrations::offered(std::string_view topic,
                                                                    unsigned depth) {
  if (const Answer* known = answers_.find(topic); known != nullptr && known->depth == depth) {
    return std::span(known->ids);
  }
  if (auto valid = Topic::check(topic); !valid) return fail(std::move(valid.error()));
  auto ids = find_offered(topic, depth);
  const auto bytes = ids.capacity() * sizeof(RegistrationId);
  return std::span(answers_.put(topic, {depth, std::move(ids)}, bytes).ids);
}

std::vector<RegistrationId> LocalRegistrations::find_offered(std::string_view topic,
                                                             unsigned depth) const {
  std::vector<RegistrationId> ids;
  tree_.walk(topic, [&](std::size_t level, const Here& here) {
    for (const auto& [id, sink] : here.entries) {
      if (sink || level >= depth) ids.push_back(id);
    }
  });
  std::sort(ids.begin(), ids.end());
  return ids;
}

const RegistrationAdvert& LocalRegistrations::advert() {
  if (advert_.version == version_) return advert_;
  advert_.version = version_;
  advert_.interests.clear();
  for (const auto& [topic, counts] : counts_) {
    advert_.interests.push_back({topic, counts.plain > 0, counts.sink > 0});
  }
  return advert_;
}

}  // namespace headrace
