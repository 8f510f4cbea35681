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

MemberRecord* MemberTable::find(NodeId id) {
  return const_cast<MemberRecord*>(std::as_const(*this).find(id));
}

const MemberRecord* MemberTable::find(NodeId id) const {
  const auto at = index_.find(id);
  return at == index_.end() ? nullptr : &all_[at->second];
}

MemberRecord& MemberTable::add(MemberRecord member) {
  const bool is_new = index_.emplace(member.id, all_.size()).second;
  HEADRACE_CHECK(is_new);
  if (member.live()) ++live_;
  return all_.emplace_back(std::move(member));
}

void MemberTable::remove(NodeId id) {
  const auto at = index_.find(id);
  if (at == index_.end()) return;
  const auto place = at->second;
  index_.erase(at);
  if (all_[place].live()) --live_;
  if (place + 1 != all_.size()) {
    all_[place] = std::move(all_.back());
    index_[all_[place].id] = place;
  }
  all_.pop_back();
}

void MemberTable::set_state(MemberRecord& member, MemberState state, MonoTime now) {
  if (member.state == state) return;
  if (member.live()) --live_;
  member.state = state;
  member.since = now;
  if (member.live()) ++live_;
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

std::uint64_t MemberTable::hash() const {
  std::uint64_t sum = 0;
  for (const auto& member : all_) {
    if (!member.live()) continue;
    std::uint64_t one = mix(member.id.high()) ^ member.id.low();
    one = mix(one) ^ member.numbers.incarnation;
    one = mix(one) ^ member.numbers.refutation;
    one = mix(one) ^ static_cast<std::uint64_t>(member.state);
    sum += mix(mix(one) ^ member.advert_version);
  }
  return sum;
}

}  // namespace headrace
