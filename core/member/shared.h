// What the parts of a Membership have in common: profile, time of the present input, the table,
// gossip, the outputs. Owned by the Membership; the parts hold a reference.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/member/broadcast_queue.h"
#include "core/member/local_health.h"
#include "core/member/member_table.h"
#include "core/member/outputs.h"
#include "core/member/profile.h"
#include "core/member/suspicion.h"

namespace headrace {

inline constexpr std::size_t kRiderBytes = 2 << 10;

struct Shared {
  // `common`: lives shared with others; null: its own.
  Shared(NodeId id, const Profile& timing, Random& generator, Lives* common)
      : self_id(id),
        profile(timing),
        random(generator),
        health(timing.health_max),
        lives(common != nullptr ? *common : own_lives) {}

  NodeId self_id;
  Profile profile;
  Random& random;
  LocalHealth health;
  MonoTime now{};
  Lives own_lives;
  Lives& lives;
  MemberTable table;
  BroadcastQueue gossip;
  Suspicions suspicions;
  std::vector<MemberOutput> outputs;

  const MemberRecord& self() const { return table.all().front(); }  // added first, never removed

  void send(NodeId to, const std::string& endpoint, const wire::MemberMessage& message) {
    outputs.push_back(SendMember{to, endpoint, wire::encode_member(message)});
  }
  void send(const MemberRecord& to, const wire::MemberMessage& message) {
    send(to.id(), to.about().control_endpoint, message);
  }
  void add_gossip(std::vector<wire::Update>& updates, std::size_t budget) {
    gossip.take(budget, retransmit_limit(profile.retransmit_mult, table.live()), updates);
  }
  // What rides on a ping or an ack, which are to stay small and fast.
  void add_riders(std::vector<wire::Update>& updates) { add_gossip(updates, kRiderBytes); }
  // Between half of `time` and all of it, so that nodes do not act in step.
  Nanos jittered(Nanos time) { return time / 2 + Nanos{random.between(0, time.count() / 2)}; }

  // Numbers of questions begin anywhere, so that an answer meant for an earlier life of this node
  // fits none.
  std::uint64_t first_number() { return random.next() >> 16; }

  wire::Update alive_update(const MemberRecord& member) const {
    return {wire::UpdateKind::kAlive, member.id(),       member.numbers(), NodeId{},
            member.advert_version,    member.life->about};
  }
  // The belief alone, without description.
  wire::Update state_update(const MemberRecord& member) const {
    wire::Update update;
    update.kind = update_kind(member.state);
    update.id = member.id();
    update.numbers = member.numbers();
    update.by = suspicions.accuser(member.id()).value_or(self_id);
    if (update.kind == wire::UpdateKind::kAlive) return alive_update(member);
    return update;
  }
};

}  // namespace headrace
