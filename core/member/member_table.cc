#include "core/member/member_table.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace headrace {
namespace {

// Up to here a sample looks at everybody; above, drawing at random rarely meets one that does not
// fit.
constexpr std::size_t kExhaustive = 128;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

// Two words instead of a call of memcmp: this is looked at for each sentence of gossip.
bool same(const NodeId& a, const NodeId& b) { return a.low() == b.low() && a.high() == b.high(); }

std::uint64_t hash_of(const MemberRecord& member) {
  std::uint64_t one = mix(member.id().high()) ^ member.id().low();
  one = mix(one) ^ member.life->incarnation;
  one = mix(one) ^ member.refutation;
  one = mix(one) ^ static_cast<std::uint64_t>(member.state);
  return mix(mix(one) ^ member.advert_version);
}

}  // namespace

std::string_view member_state_name(MemberState state) {
  switch (state) {
    case MemberState::kAlive: return "alive";
    case MemberState::kSuspect: return "suspect";
    case MemberState::kDead: return "dead";
    case MemberState::kLeft: return "left";
  }
  return "unknown";
}

bool beats(const Numbers& a, MemberState state_a, const Numbers& b, MemberState state_b) {
  return a != b ? a > b : state_a > state_b;
}

MemberState state_of(wire::UpdateKind kind) {
  HEADRACE_CHECK(kind != wire::UpdateKind::kAdvert);
  return static_cast<MemberState>(kind);
}

wire::UpdateKind update_kind(MemberState state) { return static_cast<wire::UpdateKind>(state); }

const MemberRecord* MemberTable::find(NodeId id) const {
  if (slots_.empty()) return nullptr;
  const auto held = slots_[slot_of(id)];
  return held == 0 ? nullptr : &all_[held - 1];
}

std::size_t MemberTable::slot_of(NodeId id) const {
  const auto mask = slots_.size() - 1;
  auto slot = std::hash<NodeId>{}(id)&mask;
  while (slots_[slot] != 0 && !same(all_[slots_[slot] - 1].life->id, id)) slot = (slot + 1) & mask;
  return slot;
}

void MemberTable::grow_index() {
  slots_.assign(std::max<std::size_t>(16, slots_.size() * 2), 0);
  for (const auto& member : all_) slots_[slot_of(member.id())] = place(member) + 1;
}

// Moves up what stood behind, so that no search ends at the gap.
void MemberTable::clear_slot(std::size_t slot) {
  const auto mask = slots_.size() - 1;
  for (auto next = (slot + 1) & mask; slots_[next] != 0; next = (next + 1) & mask) {
    const auto home = std::hash<NodeId>{}(all_[slots_[next] - 1].id()) & mask;
    // Stays if its home lies behind the gap.
    if (((next - home) & mask) < ((next - slot) & mask)) continue;
    slots_[slot] = slots_[next];
    slot = next;
  }
  slots_[slot] = 0;
}

const MemberRecord& MemberTable::add(MemberRecord member) {
  if (4 * (all_.size() + 1) > 3 * slots_.size()) grow_index();
  const auto slot = slot_of(member.id());
  HEADRACE_CHECK(slots_[slot] == 0);
  count(member);
  all_.push_back(std::move(member));
  slots_[slot] = static_cast<Place>(all_.size());
  return all_.back();
}

void MemberTable::remove(NodeId id) {
  const MemberRecord* member = find(id);
  if (member == nullptr) return;
  const auto gap = place(*member);
  discount(*member);
  clear_slot(slot_of(id));
  if (gap + 1 != all_.size()) {
    slots_[slot_of(all_.back().id())] = gap + 1;
    all_[gap] = std::move(all_.back());
  }
  all_.pop_back();
}

void MemberTable::set_state(const MemberRecord& member, MemberState state, MonoTime now) {
  if (member.state == state) return;
  change(member, [&](MemberRecord& record) {
    record.state = state;
    record.since = now;
  });
}

void MemberTable::count(const MemberRecord& member) {
  if (!member.live()) return;
  ++live_;
  hash_ += hash_of(member);
}

void MemberTable::discount(const MemberRecord& member) {
  if (!member.live()) return;
  --live_;
  hash_ -= hash_of(member);
}

std::vector<const MemberRecord*> MemberTable::sample(
    Random& random, std::size_t count, const std::function<bool(const MemberRecord&)>& fits) const {
  std::vector<const MemberRecord*> picked;
  if (all_.size() <= kExhaustive) {
    for (const auto& member : all_) {
      if (fits(member)) picked.push_back(&member);
    }
    const auto wanted = std::min(count, picked.size());
    for (std::size_t i = 0; i < wanted; ++i) {
      std::swap(picked[i], picked[i + random.below(picked.size() - i)]);
    }
    picked.resize(wanted);
    return picked;
  }
  for (std::size_t tries = 0; tries < 16 * count && picked.size() < count; ++tries) {
    const MemberRecord* member = &all_[random.below(all_.size())];
    if (!fits(*member) || std::find(picked.begin(), picked.end(), member) != picked.end()) continue;
    picked.push_back(member);
  }
  return picked;
}

}  // namespace headrace
