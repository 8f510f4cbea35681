// Every member that a node knows, itself first: a dense array of beliefs and an index.
//
// A cluster of N holds N * N beliefs, so a belief has 32 bytes, what many share lies apart
// (lives.h), and the index has one 32-bit place a slot. References and places last until the next
// add() or remove(). Pure data; who changes it tells of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/base/time.h"
#include "core/member/lives.h"
#include "core/member/outputs.h"

namespace headrace {

using wire::Numbers;

struct MemberRecord {
  LifeRef life;
  std::uint64_t advert_version = 0;  // that is known to exist; which one is here, Adverts knows
  MonoTime since{};                  // of the state
  std::uint64_t refutation : 41 = 0;
  MemberState state = MemberState::kAlive;
  bool refused : 1 = false;    // its address refused a connection, and it was not heard since
  bool in_round : 1 = false;   // has a place in the order of probes
  std::uint8_t flaps : 2 = 0;  // how often it came back from the dead, see Profile::flap_memory

  NodeId id() const { return life->id; }
  Numbers numbers() const { return {life->incarnation, refutation}; }
  const wire::Description& about() const { return *life->about; }
  bool live() const { return state <= MemberState::kSuspect; }
  void set_flaps(unsigned count) { flaps = std::min(count, 3u) & 3; }
  void set_refutation(std::uint64_t number) { refutation = number & ((1ULL << 41) - 1); }
};
static_assert(limits::kRefutations < 1ULL << 41);
static_assert(sizeof(MemberRecord) <= 32);

// Whether (a, state a) overrides (b, state b). A total order, so views converge whatever the order
// of arrival: numbers first, then alive < suspect < dead < left.
bool beats(const Numbers& a, MemberState state_a, const Numbers& b, MemberState state_b);

MemberState state_of(wire::UpdateKind kind);  // not kAdvert
wire::UpdateKind update_kind(MemberState state);

class MemberTable final {
 public:
  using Place = std::uint32_t;  // in all()

  // Null if nobody of that id is known.
  const MemberRecord* find(NodeId id) const;
  Place place(const MemberRecord& member) const {
    return static_cast<Place>(&member - all_.data());
  }
  const MemberRecord& add(MemberRecord member);
  // The last member takes its place.
  void remove(NodeId id);

  // The one way to change a belief, so that hash and count follow. Not who it is about.
  template <typename Apply>
  void change(const MemberRecord& member, Apply&& apply) {
    MemberRecord& record = all_[place(member)];
    discount(record);
    apply(record);
    count(record);
  }
  void set_state(const MemberRecord& member, MemberState state, MonoTime now);

  const std::vector<MemberRecord>& all() const { return all_; }
  std::size_t live() const { return live_; }

  // Up to `count` different members that `fits`, at random.
  std::vector<const MemberRecord*> sample(
      Random& random, std::size_t count,
      const std::function<bool(const MemberRecord&)>& fits) const;

  // Over all that is alive or suspect, independent of order: equal for equal views.
  std::uint64_t hash() const { return hash_; }

 private:
  // Where the id stands in the index, or the empty slot where it would.
  std::size_t slot_of(NodeId id) const;
  void grow_index();
  void clear_slot(std::size_t slot);
  void count(const MemberRecord& member);
  void discount(const MemberRecord& member);

  std::vector<MemberRecord> all_;
  std::vector<Place> slots_;  // open addressing: a power of two of them, place + 1, 0 is empty
  std::size_t live_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace headrace
