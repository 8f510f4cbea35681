// What changed between two looks at the members: what `headrace members --watch` prints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nodes/node.h"
#include "tools/cli/json.h"

namespace headrace::cli {

struct MemberChange {
  enum class What : std::uint8_t { kFound, kState, kRestarted, kAdvert, kForgotten };
  What what = What::kFound;
  Member member;       // as it is now; as it was, if it is forgotten
  std::string before;  // the state; empty if it was found
};

std::string_view to_string(MemberChange::What what);  // "found", "state", ...
Json to_json(const MemberChange& change);

class MembersWatch final {
 public:
  // Since the last call, in the order of `members`; at the first all are found.
  std::vector<MemberChange> changes(const std::vector<Member>& members);

 private:
  std::map<NodeId, Member> known_;
};

}  // namespace headrace::cli
