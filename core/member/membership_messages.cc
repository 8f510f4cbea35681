// What each message does.
#include "core/member/membership.h"

namespace headrace {

using namespace wire;

void Membership::on(NodeId from, const Hello& hello) {
  if (from == shared_.self_id) return joiner_.was_self(hello.round);
  if (hello.self.id != from) return;
  const auto& mine = shared_.self().about();
  const auto& theirs = *hello.self.about;
  if (theirs.protocol_max < mine.protocol_min || theirs.protocol_min > mine.protocol_max) {
    const std::string text = "this node speaks protocol " + std::to_string(mine.protocol_min) +
                             " to " + std::to_string(mine.protocol_max);
    return shared_.send(from, theirs.control_endpoint,
                        Reject{hello.round, RejectReason::kVersion, text});
  }
  if (hello.belief && hello.belief->id == shared_.self_id) learn(*hello.belief, Via::kGossip);
  learn(hello.self, Via::kGossip);
  const MemberRecord* member = shared_.table.find(from);
  if (member == nullptr) {
    return shared_.send(from, theirs.control_endpoint,
                        Reject{hello.round, RejectReason::kFull, "too many members"});
  }
  HelloAck ack;
  ack.round = hello.round;
  ack.self = shared_.alive_update(shared_.self());
  if (member->state != MemberState::kAlive || member->numbers() != hello.self.numbers) {
    ack.belief = shared_.state_update(*member);
  }
  // To where the caller says it is: what we know may be an older address.
  shared_.send(from, theirs.control_endpoint, ack);
}

void Membership::on(NodeId from, const HelloAck& ack) {
  if (from == shared_.self_id || ack.self.id != from) return;
  learn(ack.self, Via::kGossip);
  const MemberRecord* member = shared_.table.find(from);
  if (member == nullptr) return;
  if (ack.belief && ack.belief->id == shared_.self_id) {
    const auto before = numbers();
    learn(*ack.belief, Via::kGossip);
    if (numbers() != before) {
      shared_.send(*member, Gossip{{shared_.alive_update(shared_.self())}});
    }
  }
  // We hold it for dead with the very numbers it gave: it has to hear that to refute it.
  if (!member->live()) return joiner_.hello(member->about().control_endpoint, member);
  joiner_.answered(ack.round, from);
  // One after another, so that each of several seeds need not send the whole view.
  if (!joiner_.waits_for_sync(from) || syncer_.idle()) syncer_.begin(*member);
}

void Membership::on(NodeId from, const Reject& reject) {
  note("node " + from.hex() + " refused our hello: " + reject.text);
}

void Membership::on(NodeId from, const Ping& ping) {
  if (left_) return shared_.send(from, ping.endpoint, Ack{ping.seq, {}});
  learn(ping.updates, Via::kGossip);
  const MemberRecord* member = shared_.table.find(from);
  Ack ack{ping.seq, {}};
  // What we think of the caller, if it would not agree.
  if (member != nullptr && member->state != MemberState::kAlive) {
    ack.updates.push_back(shared_.state_update(*member));
  }
  shared_.add_riders(ack.updates);
  shared_.send(from, ping.endpoint, ack);
  if (member == nullptr || member->state == MemberState::kDead) {
    joiner_.hello(ping.endpoint, member);
  }
}

void Membership::on(NodeId from, const Ack& ack) {
  learn(ack.updates, Via::kGossip);
  prober_.answered(from, ack.seq);
}

void Membership::on(NodeId from, const PingRequest& request) { prober_.relay(from, request); }

void Membership::on(NodeId, const Nack& nack) { prober_.nacked(nack.seq); }

void Membership::on(NodeId, const Gossip& gossip) { learn(gossip.updates, Via::kGossip); }

void Membership::on(NodeId from, const SyncDigest& digest) {
  const MemberRecord* member = shared_.table.find(from);
  if (member != nullptr) syncer_.on_digest(*member, digest);
}

void Membership::on(NodeId from, const SyncNeed& need) {
  const MemberRecord* member = shared_.table.find(from);
  if (member != nullptr) syncer_.on_need(*member, need);
}

void Membership::on(NodeId from, const SyncState& state) {
  learn(state.updates, Via::kSync);
  const MemberRecord* member = shared_.table.find(from);
  if (member == nullptr || !syncer_.on_state(*member, state)) return;
  joiner_.synced(from);
  const auto next = joiner_.next_to_sync();
  if (next && syncer_.idle()) syncer_.begin(*shared_.table.find(*next));
}

void Membership::on(NodeId from, const Leave& leave) {
  Update left;
  left.kind = UpdateKind::kLeft;
  left.id = from;
  left.numbers = leave.numbers;
  learn(left, Via::kGossip);
}

void Membership::on(NodeId from, const AdvertGet& get) { adverts_.on_get(from, get); }

void Membership::on(NodeId from, const AdvertChunk& chunk) {
  const MemberRecord* member = shared_.table.find(from);
  if (member == nullptr) return;
  const auto version = adverts_.on_chunk(*member, chunk);
  if (version) shared_.outputs.push_back(AdvertChanged{chunk.node, *version});
}

}  // namespace headrace
