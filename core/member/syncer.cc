#include "core/member/syncer.h"

#include <algorithm>

namespace headrace {

void Syncer::begin(const MemberRecord& peer) {
  if (rounds_.size() >= shared_.profile.concurrent_syncs) return;
  for (const auto& [id, round] : rounds_) {
    if (round.peer == peer.id()) return;
  }
  Round round;
  round.peer = peer.id();
  round.deadline = shared_.now + shared_.profile.reply_timeout;
  rounds_.emplace(++last_round_, std::move(round));
  shared_.send(peer, wire::SyncDigest{last_round_, shared_.table.hash()});
}

void Syncer::on_digest(const MemberRecord& from, const wire::SyncDigest& digest) {
  if (digest.hash == shared_.table.hash())
    return send_state(from, digest.round, true, true, {}, {});
  // Half a second's ration may be used ahead.
  if (served_until_ > shared_.now + std::chrono::milliseconds{500}) return;
  const auto& members = shared_.table.all();
  const auto chunks = (members.size() + limits::kSyncEntries - 1) / limits::kSyncEntries;
  wire::SyncNeed need;
  need.round = digest.round;
  need.chunks = static_cast<std::uint32_t>(chunks);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& member = members[i];
    need.entries.push_back(
        {member.id(), update_kind(member.state), member.numbers(), member.advert_version});
    if (need.entries.size() < limits::kSyncEntries && i + 1 < members.size()) continue;
    serve(from, need);
    need.entries.clear();
    need.chunk += 1;
  }
}

void Syncer::on_need(const MemberRecord& from, const wire::SyncNeed& need) {
  const auto at = rounds_.find(need.round);
  if (at == rounds_.end() || at->second.peer != from.id()) return;
  auto& round = at->second;
  if (need.chunk != round.chunk || round.listed.size() > limits::kMembers) return;
  round.chunk += 1;
  round.deadline = shared_.now + shared_.profile.reply_timeout;
  for (const auto& entry : need.entries) compare(round, entry);
  if (round.chunk < need.chunks) return;
  std::sort(round.listed.begin(), round.listed.end());
  for (const auto& member : shared_.table.all()) {
    if (!member.live()) continue;
    if (std::binary_search(round.listed.begin(), round.listed.end(), member.id())) continue;
    add_all(member, round.news);
  }
  send_state(from, need.round, false, true, std::move(round.news), std::move(round.wanted));
}

void Syncer::compare(Round& round, const wire::SyncEntry& entry) {
  round.listed.push_back(entry.id);
  const auto state = state_of(entry.state);
  const MemberRecord* mine = shared_.table.find(entry.id);
  if (mine == nullptr) {
    // The dead whom we never met are no news.
    if (state <= MemberState::kSuspect) round.wanted.push_back(entry.id);
    return;
  }
  const bool same_life = entry.numbers.incarnation == mine->life->incarnation;
  if (beats(entry.numbers, state, mine->numbers(), mine->state) ||
      (same_life && entry.advert_version > mine->advert_version)) {
    round.wanted.push_back(entry.id);
  }
  if (beats(mine->numbers(), mine->state, entry.numbers, state) ||
      (same_life && mine->advert_version > entry.advert_version)) {
    add_all(*mine, round.news);
  }
}

// A belief with the description it rests on, for somebody who may know neither.
void Syncer::add_all(const MemberRecord& member, std::vector<wire::Update>& updates) const {
  updates.push_back(shared_.alive_update(member));
  if (member.state != MemberState::kAlive) updates.push_back(shared_.state_update(member));
}

bool Syncer::on_state(const MemberRecord& from, const wire::SyncState& state) {
  if (!state.answer) {
    std::vector<wire::Update> updates;
    for (const auto& id : state.wanted) {
      const MemberRecord* member = shared_.table.find(id);
      if (member != nullptr) add_all(*member, updates);
    }
    send_state(from, state.round, true, state.last, std::move(updates), {});
    return false;
  }
  const auto at = rounds_.find(state.round);
  if (at == rounds_.end() || at->second.peer != from.id()) return false;
  at->second.deadline = shared_.now + shared_.profile.reply_timeout;
  if (state.last) rounds_.erase(at);
  return state.last;
}

void Syncer::send_state(const MemberRecord& to, std::uint64_t round, bool answer, bool last,
                        std::vector<wire::Update> updates, std::vector<NodeId> wanted) {
  std::size_t at = 0;
  std::size_t asked = 0;
  do {
    wire::SyncState state;
    state.round = round;
    state.answer = answer;
    for (std::size_t bytes = 0; at < updates.size() && bytes < limits::kGossipBytes; ++at) {
      bytes += wire::encoded_size(updates[at]);
      state.updates.push_back(std::move(updates[at]));
    }
    const auto more = std::min(wanted.size() - asked, limits::kSyncEntries);
    const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(asked);
    state.wanted.assign(first, first + static_cast<std::ptrdiff_t>(more));
    asked += more;
    state.last = last && at == updates.size() && asked == wanted.size();
    if (answer) {
      serve(to, state);
    } else {
      shared_.send(to, state);
    }
  } while (at < updates.size() || asked < wanted.size());
}

void Syncer::serve(const MemberRecord& to, const wire::MemberMessage& message) {
  shared_.send(to, message);
  const auto bytes = std::get<SendMember>(shared_.outputs.back()).message.size();
  constexpr auto kEach = Nanos{std::chrono::seconds{1}} / kServedBytes;
  served_until_ = std::max(served_until_, shared_.now) + kEach * static_cast<std::int64_t>(bytes);
}

std::vector<NodeId> Syncer::tick() {
  std::vector<NodeId> silent;
  for (auto at = rounds_.begin(); at != rounds_.end();) {
    if (at->second.deadline <= shared_.now) {
      silent.push_back(at->second.peer);
      at = rounds_.erase(at);
    } else {
      ++at;
    }
  }
  return silent;
}

MonoTime Syncer::next() const {
  MonoTime next = kNever;
  for (const auto& [id, round] : rounds_) next = std::min(next, round.deadline);
  return next;
}

void Syncer::shift(Nanos by) {
  for (auto& [id, round] : rounds_) round.deadline += by;
}

}  // namespace headrace
