// Digest sync: two nodes compare one number, and exchange what differs only if it does.
//
//   initiator  -> SyncDigest           my view has this hash
//              <- SyncState (empty)    so has mine: done
//              <- SyncNeed ...         or: this is what I know, in chunks
//              -> SyncState ...        this you lack; these I want
//              <- SyncState ...        here they are; the one marked last ends it
//
// Answers that cost much are rationed: a seed through which hundreds join at once stays silent
// beyond kServedBytes a second, and who gets no answer asks somebody else. Equal views are always
// answered.
//
// Only the initiator keeps anything, for Profile::reply_timeout at a time, and the answering node
// nothing. What updates do to the view is the owner's: it applies them and then passes the message
// here.
#pragma once

#include <map>
#include <vector>

#include "core/member/shared.h"

namespace headrace {

class Syncer final {
 public:
  static constexpr std::int64_t kServedBytes = 1'000'000;  // a second, to all together

  explicit Syncer(Shared& shared) : shared_(shared), last_round_(shared.first_number()) {}

  // Nothing if one with that member runs already, or Profile::concurrent_syncs do.
  void begin(const MemberRecord& peer);
  bool idle() const { return rounds_.empty(); }
  void on_digest(const MemberRecord& from, const wire::SyncDigest& digest);
  void on_need(const MemberRecord& from, const wire::SyncNeed& need);
  // True if that ends a sync which this node began.
  bool on_state(const MemberRecord& from, const wire::SyncState& state);

  // Gives up what was not answered in time; returns with whom.
  std::vector<NodeId> tick();
  MonoTime next() const;
  void shift(Nanos by);
  void stop() { rounds_.clear(); }

 private:
  struct Round {
    NodeId peer;
    MonoTime deadline;
    std::uint32_t chunk = 0;         // the next one expected
    std::vector<NodeId> listed;      // what the peer knows
    std::vector<wire::Update> news;  // what it lacks
    std::vector<NodeId> wanted;      // what we lack
  };

  void compare(Round& round, const wire::SyncEntry& entry);
  void add_all(const MemberRecord& member, std::vector<wire::Update>& updates) const;
  // Sends an answer, and takes it from the ration.
  void serve(const MemberRecord& to, const wire::MemberMessage& message);
  void send_state(const MemberRecord& to, std::uint64_t round, bool answer, bool last,
                  std::vector<wire::Update> updates, std::vector<NodeId> wanted);

  Shared& shared_;
  std::uint64_t last_round_;
  MonoTime served_until_{};  // the ration is used up until then
  std::map<std::uint64_t, Round> rounds_;
};

}  // namespace headrace
