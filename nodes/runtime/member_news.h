// MemberNews: what changed between two looks at the members, as the events of `$sys.member`.
//
//   $sys.member.alive, .suspect, .dead, .left   a member came into that state, or is in a new life
//   $sys.member.advert                          what it consumes or listens to has changed
//
// Parameters: `node` (id, 32 hex digits), `name`, `state`, `incarnation`. Of the node itself
// nothing is told, and nothing of a member that is forgotten. What changed several times between
// two looks is told once, as it is at the end.
//
// Owned by the loop, on its thread.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/bytes.h"
#include "nodes/node.h"

namespace headrace::runtime {

class MemberNews final {
 public:
  struct Item {
    std::string topic;
    Bytes params;  // encoded
  };
  // `members`: the node itself first.
  std::vector<Item> changes(const std::vector<Member>& members);

 private:
  struct Known {
    std::string state;
    Incarnation incarnation = 0;
    std::uint64_t advert_version = 0;
    std::uint64_t look = 0;
  };
  std::unordered_map<NodeId, Known> known_;
  std::uint64_t look_ = 0;
};

}  // namespace headrace::runtime
