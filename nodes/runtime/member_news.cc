#include "nodes/runtime/member_news.h"

#include "core/base/utf8.h"
#include "core/value/value_codec.h"

namespace headrace::runtime {
namespace {

MemberNews::Item item(const char* what, const Member& member) {
  ParamSet params{{"node", member.id.hex()},
                  {"name", member.name},
                  {"state", member.state},
                  {"incarnation", member.incarnation}};
  return {std::string("$sys.member.") + what, encode(params).value_or(Bytes{})};
}

}  // namespace

std::vector<MemberNews::Item> MemberNews::changes(const std::vector<Member>& members) {
  std::vector<Item> items;
  ++look_;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const auto& member = members[i];
    const auto [at, met] = known_.try_emplace(member.id);
    Known& known = at->second;
    const bool moved =
        met || known.state != member.state || known.incarnation != member.incarnation;
    if (moved) items.push_back(item(member.state.c_str(), member));
    // Version 0: nothing was said yet.
    if (known.advert_version != member.advert_version && member.advert_version > 0) {
      items.push_back(item("advert", member));
    }
    known = {member.state, member.incarnation, member.advert_version, look_};
  }
  std::erase_if(known_, [this](const auto& entry) { return entry.second.look != look_; });
  return items;
}

}  // namespace headrace::runtime
