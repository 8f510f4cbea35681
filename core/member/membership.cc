#include "core/member/membership.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace headrace {

Membership::Membership(MembershipOptions options, Random& random)
    : shared_(options.id, options.profile, random, options.lives),
      prober_(shared_),
      syncer_(shared_),
      adverts_(shared_),
      joiner_(shared_, options.seeds, options.remembered) {
  MemberRecord self;
  self.life = shared_.lives.find_or_keep(
      options.id, options.incarnation,
      std::make_shared<const wire::Description>(std::move(options.about)));
  shared_.table.add(std::move(self));
}

void Membership::start(MonoTime now) {
  begin(now);
  shared_.table.change(shared_.self(), [&](MemberRecord& self) { self.since = now; });
  prober_.start();
  joiner_.start();
  sync_at_ = now + shared_.jittered(shared_.profile.sync_interval);
  finish();
}

Result<void> Membership::receive(MonoTime now, NodeId from, BytesView message) {
  auto decoded = wire::decode_member(message);
  if (!decoded) return fail(decoded.error());
  if (left_ && !std::holds_alternative<wire::Ping>(*decoded)) return {};
  begin(now);
  std::visit([&](const auto& m) { on(from, m); }, *decoded);
  finish();
  return {};
}

void Membership::tick(MonoTime now) {
  begin(now);
  if (left_) return;
  for (const auto& failed : prober_.tick()) {
    const MemberRecord* member = shared_.table.find(failed.id);
    // It may have shown itself in a new life, or refuted, since the probe began.
    if (member == nullptr || !member->live() || member->numbers() != failed.numbers) continue;
    wire::Update suspect;
    suspect.kind = wire::UpdateKind::kSuspect;
    suspect.id = failed.id;
    suspect.numbers = failed.numbers;
    suspect.by = shared_.self_id;
    learn(suspect, Via::kGossip);
  }
  for (const auto& id : shared_.suspicions.expired(now)) {
    const MemberRecord* member = shared_.table.find(id);
    if (member == nullptr || member->state != MemberState::kSuspect) continue;
    wire::Update dead;
    dead.kind = wire::UpdateKind::kDead;
    dead.id = id;
    dead.numbers = member->numbers();
    dead.by = shared_.self_id;
    learn(dead, Via::kGossip);
  }
  joiner_.tick();
  adverts_.tick();
  for (const auto& id : syncer_.tick()) {
    const MemberRecord* member = shared_.table.find(id);
    if (member != nullptr && member->live() && joiner_.waits_for_sync(id)) syncer_.begin(*member);
    // Nobody waits for the one that is silent: the other seeds, and somebody who is no seed.
    const auto next = joiner_.next_to_sync(id);
    if (next) syncer_.begin(*shared_.table.find(*next));
    if (!ready_) sync_with_somebody();
  }
  if (sync_at_ <= now) sync_tick();
  if (gossip_at_ <= now) gossip_tick();
  finish();
}

void Membership::peer_heard(MonoTime now, NodeId node, Incarnation incarnation) {
  const MemberRecord* member = shared_.table.find(node);
  if (left_ || member == nullptr || node == shared_.self_id) return;
  if (incarnation < member->life->incarnation) return;  // mail of an earlier life
  const bool same_life = incarnation == member->life->incarnation;
  if (same_life && member->state == MemberState::kLeft) return;  // it lingers
  begin(now);
  if (!same_life || !member->live()) {
    joiner_.hello(member->about().control_endpoint, member);
    return finish();
  }
  set_refused(*member, false);
  const bool suspect = member->state == MemberState::kSuspect;
  if (suspect) shared_.suspicions.put_off(node, now + 2 * shared_.profile.probe_interval);
  if (prober_.heard(node) || suspect) finish();
}

void Membership::link_refused(MonoTime now, NodeId node) {
  const MemberRecord* member = shared_.table.find(node);
  if (left_ || member == nullptr || node == shared_.self_id || !member->live()) return;
  begin(now);
  set_refused(*member, true);
  if (member->state == MemberState::kSuspect) {
    shared_.suspicions.shorten(node, now + shared_.profile.refused_suspicion);
  } else {
    prober_.check_indirectly(node);
  }
  finish();
}

void Membership::heard_of(MonoTime now, NodeId node, const std::string& endpoint) {
  // To be expected of all who hear it. If none is among them, it will be said again.
  constexpr std::size_t kGreeters = 4;
  const MemberRecord* member = shared_.table.find(node);
  if (left_ || node == shared_.self_id || (member != nullptr && member->live())) return;
  if (shared_.random.below(shared_.table.live()) >= kGreeters) return;
  begin(now);
  joiner_.hello(endpoint, member);
  finish();
}

void Membership::held_up(MonoTime now, Nanos duration) {
  begin(now);
  shared_.suspicions.shift(duration);
  prober_.shift(duration);
  syncer_.shift(duration);
  adverts_.shift(duration);
  joiner_.shift(duration);
  if (duration > 2 * shared_.profile.probe_interval) shared_.health.worse(1);
  finish();
}

void Membership::set_advert(MonoTime now, Bytes advert) {
  HEADRACE_CHECK(advert.size() <= limits::kAdvertBytes);
  const MemberRecord& self = shared_.self();
  if (left_ || adverts_.bytes(shared_.self_id) == advert) return;
  begin(now);
  shared_.table.change(self, [](MemberRecord& record) { record.advert_version += 1; });
  adverts_.set_own(self.advert_version, std::move(advert));
  wire::Update update;
  update.kind = wire::UpdateKind::kAdvert;
  update.id = shared_.self_id;
  update.numbers = self.numbers();
  update.advert_version = self.advert_version;
  shared_.gossip.put(std::move(update), true);
  finish();
}

void Membership::leave(MonoTime now) {
  if (left_) return;
  begin(now);
  left_ = true;
  for (const auto& member : shared_.table.all()) {
    if (member.id() == shared_.self_id || !member.live()) continue;
    shared_.send(member, wire::Leave{numbers()});
  }
  // They may know this node already, though it does not know them.
  for (const auto& endpoint : joiner_.unanswered()) {
    shared_.send(NodeId{}, endpoint, wire::Leave{numbers()});
  }
  shared_.table.set_state(shared_.self(), MemberState::kLeft, now);
  shared_.gossip.clear();
  shared_.suspicions.clear();
  prober_.stop();
  syncer_.stop();
  adverts_.stop();
  joiner_.stop();
  gossip_at_ = sync_at_ = next_timer_ = kNever;
}

void Membership::set_refused(const MemberRecord& member, bool refused) {
  if (member.refused == refused) return;
  shared_.table.change(member, [&](MemberRecord& record) { record.refused = refused; });
}

std::vector<MemberOutput> Membership::take_outputs() { return std::exchange(shared_.outputs, {}); }

void Membership::gossip_tick() {
  const auto targets = shared_.table.sample(
      shared_.random, shared_.profile.gossip_nodes, [&](const MemberRecord& m) {
        if (m.id() == shared_.self_id) return false;
        return m.live() || (m.state == MemberState::kDead &&
                            shared_.now < m.since + shared_.profile.gossip_to_dead);
      });
  // Nobody to tell: whoever comes asks for the whole view.
  if (targets.empty()) shared_.gossip.clear();
  for (const MemberRecord* target : targets) {
    wire::Gossip gossip;
    shared_.add_gossip(gossip.updates, limits::kGossipBytes);
    if (gossip.updates.empty()) break;
    shared_.send(*target, gossip);
  }
  last_gossip_ = shared_.now;
  gossip_at_ = kNever;
}

void Membership::sync_with_somebody() {
  const auto picked = shared_.table.sample(shared_.random, 1, [&](const MemberRecord& m) {
    return m.id() != shared_.self_id && m.state == MemberState::kAlive;
  });
  if (!picked.empty()) syncer_.begin(*picked.front());
}

void Membership::sync_tick() {
  sync_with_somebody();
  forget_old();
  sync_at_ = shared_.now + shared_.jittered(shared_.profile.sync_interval);
}

// At the end of each input: what waits for a condition, and when to be called again.
void Membership::finish() {
  if (left_) return;
  if (!ready_) ready_ = joiner_.settled() && adverts_.complete();
  if (gossip_at_ == kNever && !shared_.gossip.empty()) {
    gossip_at_ = std::max<MonoTime>(shared_.now + shared_.profile.gossip_delay,
                                    last_gossip_ + shared_.profile.gossip_interval);
  }
  next_timer_ = std::min({prober_.next(), syncer_.next(), adverts_.next(), joiner_.next(),
                          shared_.suspicions.next(), gossip_at_});
  if (shared_.table.all().size() > 1) next_timer_ = std::min(next_timer_, sync_at_);
}

}  // namespace headrace
