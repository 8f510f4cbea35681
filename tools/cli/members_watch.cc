#include "tools/cli/members_watch.h"

#include <utility>

namespace headrace::cli {
namespace {

using What = MemberChange::What;

// Nothing if it is as it was: ages and round trips always move.
std::optional<What> changed(const Member& before, const Member& now) {
  if (before.state != now.state) return What::kState;
  if (before.incarnation != now.incarnation) return What::kRestarted;
  if (before.advert_version != now.advert_version) return What::kAdvert;
  return {};
}

}  // namespace

std::string_view to_string(What what) {
  switch (what) {
    case What::kFound: return "found";
    case What::kState: return "state";
    case What::kRestarted: return "restarted";
    case What::kAdvert: return "advert";
    case What::kForgotten: return "forgotten";
  }
  return "?";
}

Json to_json(const MemberChange& change) {
  Json json{{"change", to_string(change.what)},
            {"before", change.before.empty() ? Json(nullptr) : Json(change.before)}};
  json.update(to_json(change.member));
  return json;
}

std::vector<MemberChange> MembersWatch::changes(const std::vector<Member>& members) {
  std::vector<MemberChange> changes;
  auto before = std::exchange(known_, {});
  for (const auto& member : members) {
    const auto at = before.find(member.id);
    if (at == before.end()) {
      changes.push_back({What::kFound, member, {}});
    } else {
      if (const auto what = changed(at->second, member)) {
        changes.push_back({*what, member, at->second.state});
      }
      before.erase(at);
    }
    known_.emplace(member.id, member);
  }
  for (auto& [id, member] : before) {
    changes.push_back({What::kForgotten, member, member.state});
  }
  return changes;
}

}  // namespace headrace::cli
