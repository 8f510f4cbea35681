// How a node's view changes by what it is told.
#include <algorithm>
#include <utility>

#include "core/member/membership.h"

namespace headrace {

using wire::Update;
using wire::UpdateKind;

void Membership::learn(const std::vector<Update>& updates, Via via) {
  for (const auto& update : updates) learn(update, via);
}

void Membership::learn(const Update& update, Via via) {
  if (update.id == shared_.self_id) return learn_of_self(update);
  const MemberRecord* member = shared_.table.find(update.id);
  if (member == nullptr) {
    // The dead whom we never met are no news, and would be told for ever.
    if (update.kind == UpdateKind::kAlive) join(update);
    return;
  }
  if (update.kind == UpdateKind::kAdvert) return learn_advert(*member, update);
  if (update.kind == UpdateKind::kAlive) return learn_alive(*member, update);
  // Of a life that we have no description of: the sync brings it together with its state.
  if (update.numbers.incarnation > member->life->incarnation) return;
  const bool news = beats(update.numbers, state_of(update.kind), member->numbers(), member->state);
  if (via == Via::kSync && update.kind == UpdateKind::kDead && member->live() && news) {
    return prober_.check(update);
  }
  learn_state(*member, update);
}

void Membership::join(const Update& update) {
  if (shared_.table.all().size() >= limits::kMembers) {
    if (!full_) note("no place for " + update.about->name + ": the limit of members is reached");
    full_ = true;
    return;
  }
  const MemberRecord& added =
      add(shared_.lives.find_or_keep(update.id, update.numbers.incarnation, update.about),
          update.numbers.refutation, update.advert_version);
  shared_.outputs.push_back(MemberChanged{update.id, MemberState::kAlive, MemberState::kAlive,
                                          MemberChanged::What::kJoined});
  shared_.gossip.put(update, false);
  adverts_.member_changed(added);
}

const MemberRecord& Membership::add(const LifeRef& life, std::uint64_t refutation,
                                    std::uint64_t advert) {
  MemberRecord member;
  member.life = life;
  member.set_refutation(refutation);
  member.advert_version = advert;
  member.since = shared_.now;
  const MemberRecord& added = shared_.table.add(std::move(member));
  prober_.member_added(added);
  return added;
}

void Membership::know(const LifeRef& life) {
  if (life->id != shared_.self_id && shared_.table.find(life->id) == nullptr) add(life, 0, 0);
}

void Membership::learn_advert(const MemberRecord& member, const Update& update) {
  if (update.numbers.incarnation != member.life->incarnation) return;
  if (update.advert_version <= member.advert_version) return;
  shared_.table.change(
      member, [&](MemberRecord& record) { record.advert_version = update.advert_version; });
  Update on = update;
  on.kind = UpdateKind::kAdvert;
  on.about = nullptr;
  shared_.gossip.put(std::move(on), false);
  adverts_.member_changed(member);
}

void Membership::learn_alive(const MemberRecord& member, const Update& update) {
  if (!beats(update.numbers, MemberState::kAlive, member.numbers(), member.state)) {
    return learn_advert(member, update);
  }
  const auto id = update.id;
  const auto before = member.state;
  const auto life_before = member.life->incarnation;
  const bool restarted = update.numbers.incarnation > life_before;
  shared_.table.change(member, [&](MemberRecord& record) {
    record.advert_version =
        restarted ? update.advert_version : std::max(update.advert_version, record.advert_version);
    record.life = shared_.lives.find_or_keep(id, update.numbers.incarnation, update.about);
    record.set_refutation(update.numbers.refutation);
    record.refused = false;
    if (restarted) record.set_flaps(0);
    if (!restarted && before == MemberState::kDead) record.set_flaps(record.flaps + 1u);
  });
  shared_.suspicions.end(id);
  shared_.table.set_state(member, MemberState::kAlive, shared_.now);
  if (before > MemberState::kSuspect) prober_.member_added(member);
  if (restarted) {
    adverts_.forget(id);
    shared_.outputs.push_back(
        MemberRestarted{id, life_before, update.numbers.incarnation, update.about->reopened});
  }
  if (before != MemberState::kAlive) {
    shared_.outputs.push_back(
        MemberChanged{id, before, MemberState::kAlive, MemberChanged::What::kState});
  }
  shared_.gossip.put(shared_.alive_update(member), false);
  adverts_.member_changed(member);
}

void Membership::learn_state(const MemberRecord& member, const Update& update) {
  const auto id = update.id;
  const auto state = state_of(update.kind);
  const bool suspect = state == MemberState::kSuspect;
  if (suspect && member.state == state && member.numbers() == update.numbers) {
    if (shared_.suspicions.confirm(id, update.by)) shared_.gossip.put(update, false);
    return;
  }
  if (!beats(update.numbers, state, member.numbers(), member.state)) return;
  const auto before = member.state;
  const bool calm = shared_.now - member.since >= shared_.profile.flap_memory;
  shared_.table.change(member, [&](MemberRecord& record) {
    record.set_refutation(update.numbers.refutation);
    if (before == MemberState::kAlive && calm) record.set_flaps(0);
    // A higher refutation of one that was dead: it lives, though somebody accuses it again.
    if (before == MemberState::kDead && suspect) record.set_flaps(record.flaps + 1u);
  });
  shared_.table.set_state(member, state, shared_.now);
  shared_.suspicions.end(id);
  if (suspect) {
    shared_.suspicions.begin(shared_.now, id, update.by, shared_.profile, shared_.table.live(),
                             member.flaps);
    if (member.refused) {
      shared_.suspicions.shorten(id, shared_.now + shared_.profile.refused_suspicion);
    }
    if (before > MemberState::kSuspect) prober_.member_added(member);
  }
  if (before != state) {
    shared_.outputs.push_back(MemberChanged{id, before, state, MemberChanged::What::kState});
  }
  shared_.gossip.put(update, false);
  adverts_.member_changed(member);
  if (!member.live()) joiner_.lost(id);
}

void Membership::learn_of_self(const Update& update) {
  const auto mine = numbers();
  if (update.numbers.incarnation > mine.incarnation) {
    if (update.numbers.incarnation <= highest_seen_) return;
    highest_seen_ = update.numbers.incarnation;
    shared_.outputs.push_back(IncarnationSeen{highest_seen_});
    return;
  }
  // Of an earlier life: the present one overrides it wherever it is told.
  if (update.numbers.incarnation < mine.incarnation || update.kind == UpdateKind::kAdvert) return;
  const bool accused = update.kind != UpdateKind::kAlive;
  const auto told = update.numbers.refutation;
  if (told > mine.refutation || (accused && told == mine.refutation)) refute(update.numbers);
}

void Membership::refute(const Numbers& told) {
  if (told.refutation >= limits::kRefutations) return;
  const MemberRecord& self = shared_.self();
  shared_.table.change(self,
                       [&](MemberRecord& record) { record.set_refutation(told.refutation + 1); });
  shared_.health.worse(1);
  shared_.gossip.put(shared_.alive_update(self), true);
}

void Membership::forget_old() {
  if (shared_.table.live() == shared_.table.all().size()) return;
  std::vector<NodeId> old;
  for (const auto& member : shared_.table.all()) {
    if (member.live()) continue;
    const Nanos kept = member.about().has_store ? Nanos{shared_.profile.dead_kept}
                                                : Nanos{shared_.profile.dead_kept_storeless};
    if (member.since + kept <= shared_.now) old.push_back(member.id());
  }
  for (const auto& id : old) {
    const MemberRecord& member = *shared_.table.find(id);
    const auto state = member.state;
    prober_.member_removed(member);
    shared_.table.remove(id);
    shared_.gossip.forget(id);
    adverts_.forget(id);
    shared_.outputs.push_back(MemberChanged{id, state, state, MemberChanged::What::kForgotten});
  }
  full_ = full_ && old.empty();
}

}  // namespace headrace
