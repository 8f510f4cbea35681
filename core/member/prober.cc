#include "core/member/prober.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr std::size_t kChecksAtATime = 16;

}  // namespace

void Prober::start() {
  next_round_ = shared_.now + shared_.jittered(shared_.profile.probe_interval);
}

void Prober::stop() {
  next_round_ = kNever;
  probes_.clear();
  waiting_.clear();
}

void Prober::member_added(const MemberRecord& member) {
  if (member.in_round) return;  // dead and back
  shared_.table.change(member, [](MemberRecord& record) { record.in_round = true; });
  round_.push_back(shared_.table.place(member));
  const auto ahead = round_.size() - next_in_round_;
  std::swap(round_.back(), round_[next_in_round_ + shared_.random.below(ahead)]);
}

void Prober::member_removed(const MemberRecord& member) {
  const auto gone = shared_.table.place(member);
  const auto last = shared_.table.all().size() - 1;
  const auto passed = round_.begin() + static_cast<std::ptrdiff_t>(next_in_round_);
  if (member.in_round) next_in_round_ -= std::count(round_.begin(), passed, gone) > 0 ? 1 : 0;
  std::erase(round_, gone);
  std::replace(round_.begin(), round_.end(), static_cast<MemberTable::Place>(last), gone);
}

const MemberRecord* Prober::next_target() {
  for (int pass = 0; pass < 2; ++pass) {
    while (next_in_round_ < round_.size()) {
      const MemberRecord& member = shared_.table.all()[round_[next_in_round_++]];
      if (member.live() && !probing(member.id())) return &member;
    }
    next_in_round_ = 0;
    std::erase_if(round_, [&](MemberTable::Place place) {
      const MemberRecord& member = shared_.table.all()[place];
      if (member.live()) return false;
      shared_.table.change(member, [](MemberRecord& record) { record.in_round = false; });
      return true;
    });
    for (std::size_t i = round_.size(); i > 1; --i) {
      std::swap(round_[i - 1], round_[shared_.random.below(i)]);
    }
  }
  return nullptr;
}

bool Prober::probing(NodeId id) const {
  return std::any_of(probes_.begin(), probes_.end(),
                     [&](const auto& entry) { return entry.second.target == id; });
}

void Prober::begin(const MemberRecord& target, const std::optional<wire::Update>& accusation,
                   bool direct) {
  const auto seq = ++last_seq_;
  Probe probe;
  probe.target = target.id();
  probe.numbers = target.numbers();
  probe.indirect_at = shared_.now + shared_.health.stretch(shared_.profile.ack_timeout);
  probe.fail_at = shared_.now + shared_.health.stretch(shared_.profile.probe_interval);
  if (direct) {
    wire::Ping ping{seq, shared_.self().about().control_endpoint, {}};
    // Who is suspected learns it from the very next ping, and can refute.
    if (accusation) {
      ping.updates.push_back(*accusation);
    } else if (target.state != MemberState::kAlive) {
      ping.updates.push_back(shared_.state_update(target));
    }
    shared_.add_riders(ping.updates);
    shared_.send(target, ping);
    newest_ = {seq, target.id(), shared_.now};
  } else {
    ask_helpers(seq, probe);
    // Nobody to ask: our own word is all there is.
    probe.fail_at = shared_.now;
    if (probe.helpers > 0) {
      probe.fail_at += shared_.health.stretch(shared_.profile.ack_timeout);
    }
  }
  probes_.emplace(seq, probe);
}

void Prober::ask_helpers(std::uint64_t seq, Probe& probe) {
  probe.indirect_at = kNever;
  const MemberRecord* target = shared_.table.find(probe.target);
  if (target == nullptr) return;
  const auto helpers = shared_.table.sample(
      shared_.random, shared_.profile.indirect_probes, [&](const MemberRecord& m) {
        return m.state == MemberState::kAlive && m.id() != shared_.self_id &&
               m.id() != probe.target;
      });
  const auto timeout = std::chrono::duration_cast<Millis>(shared_.profile.ack_timeout);
  const wire::PingRequest request{seq, probe.target, target->about().control_endpoint,
                                  static_cast<std::uint32_t>(timeout.count())};
  for (const MemberRecord* helper : helpers) shared_.send(*helper, request);
  probe.helpers = static_cast<unsigned>(helpers.size());
}

std::vector<Prober::Failed> Prober::tick() {
  std::vector<Failed> failed;
  const auto now = shared_.now;
  for (auto at = probes_.begin(); at != probes_.end();) {
    auto& probe = at->second;
    if (probe.fail_at <= now) {
      // Without a nack from a helper that was asked, the fault may be ours.
      const unsigned missed = probe.helpers - std::min(probe.helpers, probe.nacks);
      shared_.health.worse(probe.helpers == 0 ? 1 : missed);
      failed.push_back({probe.target, probe.numbers});
      at = probes_.erase(at);
      continue;
    }
    if (probe.indirect_at <= now) ask_helpers(at->first, probe);
    ++at;
  }
  tick_relays();
  begin_waiting();
  if (next_round_ <= now) {
    const MemberRecord* target = next_target();
    if (target != nullptr) begin(*target, {}, true);
    next_round_ = now + shared_.health.stretch(shared_.profile.probe_interval);
  }
  return failed;
}

void Prober::tick_relays() {
  for (auto at = relays_.begin(); at != relays_.end();) {
    auto& relay = at->second;
    if (relay.nack_at <= shared_.now) {
      shared_.send(relay.origin, relay.origin_endpoint, wire::Nack{relay.origin_seq});
      relay.nack_at = kNever;
    }
    at = relay.ends_at <= shared_.now ? relays_.erase(at) : std::next(at);
  }
}

void Prober::begin_waiting() {
  while (!waiting_.empty() && probes_.size() < kChecksAtATime) {
    const auto accusation = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    const MemberRecord* target = shared_.table.find(accusation.id);
    // Refuted meanwhile, or found dead: nothing to check.
    if (target == nullptr || !target->live() || target->numbers() > accusation.numbers) continue;
    begin(*target, accusation, true);
  }
}

void Prober::check(const wire::Update& accusation) {
  waiting_[accusation.id] = accusation;
  begin_waiting();
}

void Prober::check_indirectly(NodeId id) {
  for (auto at = probes_.begin(); at != probes_.end(); ++at) {
    if (at->second.target != id) continue;
    if (at->second.indirect_at == kNever) return;
    probes_.erase(at);
    break;
  }
  const MemberRecord* target = shared_.table.find(id);
  if (target != nullptr) begin(*target, {}, false);
}

void Prober::succeed(std::map<std::uint64_t, Probe>::iterator at) {
  probes_.erase(at);
  shared_.health.better();
}

void Prober::answered(NodeId from, std::uint64_t seq) {
  if (seq == newest_.seq && from == newest_.target) {
    measured_ = RoundTrip{from, shared_.now - newest_.sent_at};
  }
  const auto relayed = relays_.find(seq);
  if (relayed != relays_.end()) {
    if (relayed->second.target != from) return;
    const auto& relay = relayed->second;
    shared_.send(relay.origin, relay.origin_endpoint, wire::Ack{relay.origin_seq, {}});
    relays_.erase(relayed);
    return;
  }
  const auto at = probes_.find(seq);
  // From the target itself, or from a helper on its behalf.
  if (at != probes_.end() && (from == at->second.target || at->second.helpers > 0)) succeed(at);
}

bool Prober::heard(NodeId id) {
  for (auto at = probes_.begin(); at != probes_.end(); ++at) {
    if (at->second.target != id) continue;
    succeed(at);
    return true;
  }
  return false;
}

void Prober::nacked(std::uint64_t seq) {
  const auto at = probes_.find(seq);
  if (at != probes_.end()) at->second.nacks += 1;
}

void Prober::relay(NodeId from, const wire::PingRequest& request) {
  const MemberRecord* origin = shared_.table.find(from);
  if (origin == nullptr || relays_.size() >= limits::kRelayedPings) return;
  const auto seq = ++last_seq_;
  const Nanos timeout = Millis{std::min<std::uint32_t>(request.timeout_ms, 60'000)};
  Relay relay;
  relay.origin = from;
  relay.origin_endpoint = origin->about().control_endpoint;
  relay.origin_seq = request.seq;
  relay.target = request.target;
  relay.nack_at = shared_.now + timeout * 4 / 5;
  relay.ends_at = shared_.now + timeout * 4;
  relays_.emplace(seq, std::move(relay));
  wire::Ping ping{seq, shared_.self().about().control_endpoint, {}};
  shared_.send(request.target, request.target_endpoint, ping);
}

MonoTime Prober::next() const {
  MonoTime next = shared_.table.live() > 1 ? next_round_ : kNever;
  for (const auto& [seq, probe] : probes_) {
    next = std::min({next, probe.indirect_at, probe.fail_at});
  }
  for (const auto& [seq, relay] : relays_) next = std::min({next, relay.nack_at, relay.ends_at});
  return next;
}

void Prober::shift(Nanos by) {
  for (auto& [seq, probe] : probes_) {
    probe.fail_at += by;
    if (probe.indirect_at != kNever) probe.indirect_at += by;
  }
  for (auto& [seq, relay] : relays_) {
    relay.ends_at += by;
    if (relay.nack_at != kNever) relay.nack_at += by;
  }
}

}  // namespace headrace
