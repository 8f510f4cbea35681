// Suspicions that run: who is suspected, who agrees, and when it ends in a death.
//
// The timeout shrinks from `longest` to `least` as independent members confirm (Lifeguard),
// logarithmically: the first confirmation counts most. Without enough members to confirm, it is
// `least` from the start.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/member/profile.h"
#include "core/wire/member.h"

namespace headrace {

// mult * max(1, log10(members)) * probe interval.
Nanos least_suspicion(const Profile& profile, std::size_t members);
// Confirmations at which `least` is reached: mult - 2, or 0 if that many others are not there.
unsigned expected_confirmations(const Profile& profile, std::size_t members);
// longest - (longest - least) * log(confirmations + 1) / log(expected + 1), not below least.
Nanos suspicion_timeout(Nanos least, Nanos longest, unsigned confirmations, unsigned expected);

class Suspicions final {
 public:
  // Replaces one of the same member. Lasts 2 to the power of `flaps` times as long.
  void begin(MonoTime now, NodeId member, NodeId by, const Profile& profile, std::size_t members,
             unsigned flaps = 0);
  // True if `by` is new among at most the expected confirmers: then it is worth telling on.
  bool confirm(NodeId member, NodeId by);
  // Ends no later than `deadline`.
  void shorten(NodeId member, MonoTime deadline);
  // Ends no earlier than `deadline`.
  void put_off(NodeId member, MonoTime deadline);
  void end(NodeId member) { running_.erase(member); }
  // Who suspected first; nothing if the member is not suspected.
  std::optional<NodeId> accuser(NodeId member) const;

  // Takes out those that have run out.
  std::vector<NodeId> expired(MonoTime now);
  // Not later than the first deadline; may be earlier.
  MonoTime next() const { return next_; }
  void shift(Nanos by);
  void clear();

 private:
  struct Suspicion {
    MonoTime start;
    Nanos least;
    Nanos longest;
    unsigned expected = 0;
    std::vector<NodeId> by;  // the accuser, then confirmers
    MonoTime deadline;
  };
  void set_deadline(Suspicion& suspicion, MonoTime deadline);

  std::map<NodeId, Suspicion> running_;
  MonoTime next_ = kNever;
};

}  // namespace headrace
