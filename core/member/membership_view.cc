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
  MemberRecord* member = shared_.table.find(update.id);
  if (member == nullptr) {
    // The dead whom we never met are no news, and would be told for ever.
    if (update.kind == UpdateKind::kAlive) join(update);
    return;
  }
  if (update.kind == UpdateKind::kAdvert) return learn_advert(*member, update);
  if (update.kind == UpdateKind::kAlive) return learn_alive(*member, update);
  // Of a life that we have no description of: the sync brings it together with its state.
  if (update.numbers.incarnation > member->numbers.incarnation) return;
  const bool news = beats(update.numbers, state_of(update.kind), member->numbers, member->state);
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
  MemberRecord member;
  member.id = update.id;
  member.numbers = update.numbers;
  member.advert_version = update.advert_version;
  member.about = update.about;
  member.since = shared_.now;
  const MemberRecord& added = shared_.table.add(std::move(member));
  prober_.member_added(update.id);
  shared_.outputs.push_back(MemberChanged{update.id, MemberState::kAlive, MemberState::kAlive,
                                          MemberChanged::What::kJoined});
  shared_.gossip.put(update, false);
  adverts_.member_changed(added);
}

void Membership::learn_advert(MemberRecord& member, const Update& update) {
  if (update.numbers.incarnation != member.numbers.incarnation) return;
  if (update.advert_version <= member.advert_version) return;
  member.advert_version = update.advert_version;
  Update on = update;
  on.kind = UpdateKind::kAdvert;
  on.about = nullptr;
  shared_.gossip.put(std::move(on), false);
  adverts_.member_changed(member);
}

void Membership::learn_alive(MemberRecord& member, const Update& update) {
  if (!beats(update.numbers, MemberState::kAlive, member.numbers, member.state)) {
    return learn_advert(member, update);
  }
  const auto before = member.state;
  const auto life_before = member.numbers.incarnation;
  const bool restarted = update.numbers.incarnation > life_before;
  member.advert_version =
      restarted ? update.advert_version : std::max(update.advert_version, member.advert_version);
  member.numbers = update.numbers;
  member.about = update.about;
  member.refused = false;
  shared_.suspicions.end(member.id);
  shared_.table.set_state(member, MemberState::kAlive, shared_.now);
  if (before > MemberState::kSuspect) prober_.member_added(member.id);
  if (restarted) {
    adverts_.forget(member.id);
    shared_.outputs.push_back(MemberRestarted{member.id, life_before, update.numbers.incarnation,
                                              update.about->reopened});
  }
  if (before != MemberState::kAlive) {
    shared_.outputs.push_back(
        MemberChanged{member.id, before, MemberState::kAlive, MemberChanged::What::kState});
  }
  shared_.gossip.put(shared_.alive_update(member), false);
  adverts_.member_changed(member);
}

void Membership::learn_state(MemberRecord& member, const Update& update) {
  const auto state = state_of(update.kind);
  const bool suspect = state == MemberState::kSuspect;
  if (suspect && member.state == state && member.numbers == update.numbers) {
    if (shared_.suspicions.confirm(member.id, update.by)) shared_.gossip.put(update, false);
    return;
  }
  if (!beats(update.numbers, state, member.numbers, member.state)) return;
  const auto before = member.state;
  member.numbers = update.numbers;
  shared_.table.set_state(member, state, shared_.now);
  shared_.suspicions.end(member.id);
  if (suspect) {
    shared_.suspicions.begin(shared_.now, member.id, update.by, shared_.profile,
                             shared_.table.live());
    if (member.refused) {
      shared_.suspicions.shorten(member.id, shared_.now + shared_.profile.refused_suspicion);
    }
    // A higher refutation of one that was dead: it lives, though somebody accuses it again.
    if (before > MemberState::kSuspect) prober_.member_added(member.id);
  }
  if (before != state) {
    shared_.outputs.push_back(MemberChanged{member.id, before, state, MemberChanged::What::kState});
  }
  shared_.gossip.put(update, false);
  adverts_.member_changed(member);
  if (!member.live()) joiner_.lost(member.id);
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
  MemberRecord& self = *shared_.table.find(shared_.self_id);
  self.numbers.refutation = told.refutation + 1;
  shared_.health.worse(1);
  shared_.gossip.put(shared_.alive_update(self), true);
}

void Membership::forget_old() {
  std::vector<NodeId> old;
  for (const auto& member : shared_.table.all()) {
    if (member.live()) continue;
    const Nanos kept = member.about->has_store ? Nanos{shared_.profile.dead_kept}
                                               : Nanos{shared_.profile.dead_kept_storeless};
    if (member.since + kept <= shared_.now) old.push_back(member.id);
  }
  for (const auto& id : old) {
    const auto state = shared_.table.find(id)->state;
    shared_.table.remove(id);
    shared_.gossip.forget(id);
    adverts_.forget(id);
    shared_.outputs.push_back(MemberChanged{id, state, state, MemberChanged::What::kForgotten});
  }
  full_ = full_ && old.empty();
}

}  // namespace headrace
