// MemberWatch: what the members of a world believe and what they send, counted as it happens.
//
// A death is false when its subject lives and the scenario does not excuse it (cut off, stalled).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/time.h"
#include "core/member/outputs.h"
#include "tools/sim/members/network.h"

namespace headrace::sim {

class MemberWatch final {
 public:
  explicit MemberWatch(Place members);

  void changed(MonoTime now, Place viewer, Place subject, const MemberChanged& change);
  void sent(MonoTime now, Place from, BytesView message);
  // What went before does not count, and traffic is counted from now on.
  void reset(MonoTime now);

  // How long each suspicion lasted that ended in its refutation. Costs an entry a suspicion.
  void follow_refutations() { follow_refutations_ = true; }
  // How often each viewer changed its mind about each member. Costs an entry a pair.
  void follow_flaps() { follow_flaps_ = true; }

  std::vector<bool> excused;  // its death is right

  std::uint64_t suspicions = 0;
  std::uint64_t deaths = 0;
  std::uint64_t false_deaths = 0;
  // Of one member, since reset().
  MonoTime first_suspected(Place subject) const { return first_suspected_[subject]; }
  MonoTime last_declared(Place subject) const { return last_declared_[subject]; }
  Place declared_by(Place subject) const { return declared_[subject]; }

  std::uint64_t refuted() const { return refuted_; }
  Millis refuted_within(unsigned percent) const;  // that share of the refutations
  // The most changes to dead or back of one member in one view.
  std::uint32_t most_flaps() const { return most_flaps_; }

  std::uint64_t messages() const { return messages_; }
  std::uint64_t sync_messages() const { return sync_messages_; }
  std::uint64_t bytes() const { return bytes_; }
  // Mean over all members of the busiest second; the most that one of the first `places` sent in a
  // second.
  std::uint64_t peak_bytes();
  std::uint64_t peak_bytes_of_one(Place places);

 private:
  void roll(std::int64_t second);
  static std::uint64_t pair(Place viewer, Place subject) {
    return std::uint64_t{viewer} << 32 | subject;
  }

  std::vector<MonoTime> first_suspected_;
  std::vector<MonoTime> last_declared_;
  std::vector<Place> declared_;

  bool follow_refutations_ = false;
  bool follow_flaps_ = false;
  // Never iterated.
  std::unordered_map<std::uint64_t, MonoTime> suspected_since_;
  std::unordered_map<std::uint64_t, std::uint32_t> flaps_;
  std::vector<std::uint64_t> refuted_in_;  // by milliseconds
  std::uint64_t refuted_ = 0;
  std::uint32_t most_flaps_ = 0;

  std::uint64_t messages_ = 0;
  std::uint64_t sync_messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t second_ = 0;
  std::uint64_t bytes_in_second_ = 0;
  std::uint64_t peak_ = 0;
  std::vector<std::uint64_t> sent_in_second_;
  std::vector<std::uint64_t> peak_of_;
};

}  // namespace headrace::sim
