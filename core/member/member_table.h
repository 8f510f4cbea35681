// Every member that a node knows, itself first: a dense array and an index.
//
// References and positions last until the next add() or remove(). Pure data; who changes it tells
// of it.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/base/random.h"
#include "core/base/time.h"
#include "core/member/outputs.h"

namespace headrace {

using wire::Numbers;

struct MemberRecord {
  NodeId id;
  MemberState state = MemberState::kAlive;
  Numbers numbers;
  std::uint64_t advert_version = 0;  // that is known to exist; which one is here, Adverts knows
  std::shared_ptr<const wire::Description> about;
  MonoTime since{};      // of the state
  bool refused = false;  // its address refused a connection, and it was not heard since

  bool live() const { return state <= MemberState::kSuspect; }
};

// Whether (a, state a) overrides (b, state b). A total order, so views converge whatever the order
// of arrival: numbers first, then alive < suspect < dead < left.
bool beats(const Numbers& a, MemberState state_a, const Numbers& b, MemberState state_b);

MemberState state_of(wire::UpdateKind kind);  // not kAdvert
wire::UpdateKind update_kind(MemberState state);

class MemberTable final {
 public:
  // Null if nobody of that id is known.
  MemberRecord* find(NodeId id);
  const MemberRecord* find(NodeId id) const;
  MemberRecord& add(MemberRecord member);
  void remove(NodeId id);
  void set_state(MemberRecord& member, MemberState state, MonoTime now);

  const std::vector<MemberRecord>& all() const { return all_; }
  std::size_t live() const { return live_; }

  // Up to `count` different members that `fits`, at random.
  std::vector<const MemberRecord*> sample(
      Random& random, std::size_t count,
      const std::function<bool(const MemberRecord&)>& fits) const;

  // Over all that is alive or suspect, independent of order: equal for equal views.
  std::uint64_t hash() const;

 private:
  std::vector<MemberRecord> all_;
  std::unordered_map<NodeId, std::size_t> index_;
  std::size_t live_ = 0;
};

}  // namespace headrace
