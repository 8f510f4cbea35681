#include "core/member/suspicion.h"

#include <algorithm>
#include <cmath>

namespace headrace {

Nanos least_suspicion(const Profile& profile, std::size_t members) {
  const double scale =
      std::max(1.0, std::log10(static_cast<double>(std::max<std::size_t>(1, members))));
  // To the millisecond: the last bit of a logarithm may differ between machines.
  const auto interval = static_cast<double>(profile.probe_interval.count());
  return Millis{std::llround(profile.suspicion_mult * scale * interval)};
}

unsigned expected_confirmations(const Profile& profile, std::size_t members) {
  const unsigned wanted = profile.suspicion_mult > 2 ? profile.suspicion_mult - 2 : 0;
  // Neither the suspect nor the accuser confirms.
  return members < std::size_t{wanted} + 2 ? 0 : wanted;
}

Nanos suspicion_timeout(Nanos least, Nanos longest, unsigned confirmations, unsigned expected) {
  if (expected == 0) return least;
  const double part = std::log(confirmations + 1.0) / std::log(expected + 1.0);
  const auto span =
      static_cast<double>(std::chrono::duration_cast<Millis>(longest - least).count());
  const Nanos timeout = longest - Millis{std::llround(span * part)};
  return std::max(least, timeout);
}

void Suspicions::begin(MonoTime now, NodeId member, NodeId by, const Profile& profile,
                       std::size_t members, unsigned flaps) {
  Suspicion suspicion;
  suspicion.start = now;
  suspicion.least = least_suspicion(profile, members) * (1 << flaps);
  suspicion.longest = suspicion.least * profile.suspicion_max_mult;
  suspicion.expected = expected_confirmations(profile, members);
  suspicion.by.push_back(by);
  const auto timeout = suspicion_timeout(suspicion.least, suspicion.longest, 0, suspicion.expected);
  set_deadline(suspicion, now + timeout);
  running_[member] = std::move(suspicion);
}

bool Suspicions::confirm(NodeId member, NodeId by) {
  const auto at = running_.find(member);
  if (at == running_.end()) return false;
  auto& suspicion = at->second;
  if (suspicion.by.size() > suspicion.expected) return false;
  if (std::find(suspicion.by.begin(), suspicion.by.end(), by) != suspicion.by.end()) return false;
  suspicion.by.push_back(by);
  const auto timeout =
      suspicion_timeout(suspicion.least, suspicion.longest,
                        static_cast<unsigned>(suspicion.by.size() - 1), suspicion.expected);
  set_deadline(suspicion, std::min(suspicion.deadline, suspicion.start + timeout));
  return true;
}

void Suspicions::shorten(NodeId member, MonoTime deadline) {
  const auto at = running_.find(member);
  if (at != running_.end()) set_deadline(at->second, std::min(at->second.deadline, deadline));
}

void Suspicions::put_off(NodeId member, MonoTime deadline) {
  const auto at = running_.find(member);
  if (at != running_.end()) set_deadline(at->second, std::max(at->second.deadline, deadline));
}

std::optional<NodeId> Suspicions::accuser(NodeId member) const {
  const auto at = running_.find(member);
  if (at == running_.end()) return {};
  return at->second.by.front();
}

std::vector<NodeId> Suspicions::expired(MonoTime now) {
  std::vector<NodeId> out;
  if (now < next_) return out;
  next_ = kNever;
  for (auto at = running_.begin(); at != running_.end();) {
    if (at->second.deadline <= now) {
      out.push_back(at->first);
      at = running_.erase(at);
    } else {
      next_ = std::min(next_, at->second.deadline);
      ++at;
    }
  }
  return out;
}

void Suspicions::shift(Nanos by) {
  for (auto& [member, suspicion] : running_) {
    suspicion.start += by;
    suspicion.deadline += by;
  }
  if (next_ != kNever) next_ += by;
}

void Suspicions::clear() {
  running_.clear();
  next_ = kNever;
}

void Suspicions::set_deadline(Suspicion& suspicion, MonoTime deadline) {
  suspicion.deadline = deadline;
  next_ = std::min(next_, deadline);
}

}  // namespace headrace
