#include "core/member/joiner.h"

#include <algorithm>

namespace headrace {
namespace {

constexpr unsigned kRememberedTries = 8;  // then, once others are known, the address is given up
constexpr std::size_t kDialledLately = 1'024;

}  // namespace

Joiner::Joiner(Shared& shared, const std::vector<std::string>& seeds,
               const std::vector<std::string>& remembered)
    : shared_(shared), last_round_(shared.first_number()) {
  const auto add = [&](const std::string& endpoint, bool seed) {
    const bool known = std::any_of(contacts_.begin(), contacts_.end(),
                                   [&](const Contact& c) { return c.endpoint == endpoint; });
    if (known || contacts_.size() >= limits::kSeeds) return;
    Contact contact;
    contact.endpoint = endpoint;
    contact.seed = seed;
    contacts_.push_back(std::move(contact));
  };
  for (const auto& endpoint : seeds) add(endpoint, true);
  for (const auto& endpoint : remembered) add(endpoint, false);
}

void Joiner::start() {
  for (auto& contact : contacts_) {
    if (contact.endpoint == shared_.self().about().control_endpoint) {
      contact.self = true;
    } else {
      dial(contact);
    }
  }
  reconnect_at_ = shared_.now + shared_.jittered(shared_.profile.reconnect_interval);
}

std::uint64_t Joiner::say_hello(const std::string& endpoint, const MemberRecord* expected) {
  wire::Hello hello;
  hello.round = ++last_round_;
  hello.self = shared_.alive_update(shared_.self());
  if (expected != nullptr && expected->state != MemberState::kAlive) {
    hello.belief = shared_.state_update(*expected);
  }
  shared_.send(NodeId{}, endpoint, hello);
  return hello.round;
}

void Joiner::dial(Contact& contact) {
  if (contact.attempts > 0) contact.tried = true;
  const auto& profile = shared_.profile;
  const auto doubled = profile.hello_backoff * (1 << std::min(contact.attempts, 16u));
  contact.attempts += 1;
  contact.next_at =
      shared_.now + shared_.jittered(std::min<Nanos>(doubled, profile.hello_backoff_max));
  contact.round = say_hello(contact.endpoint, shared_.table.find(contact.id));
}

void Joiner::tick() {
  for (auto& contact : contacts_) {
    if (contact.next_at <= shared_.now) dial(contact);
  }
  if (shared_.table.live() > 1) {
    std::erase_if(contacts_, [](const Contact& contact) {
      return !contact.seed && contact.attempts > kRememberedTries;
    });
  }
  if (reconnect_at_ <= shared_.now) reconnect();
}

// With probability dead/live, so that a cluster dials each of its dead about once an interval,
// whatever its size.
void Joiner::reconnect() {
  const auto& profile = shared_.profile;
  reconnect_at_ = shared_.now + shared_.jittered(profile.reconnect_interval);
  std::erase_if(dialled_, [&](const auto& entry) {
    return entry.second + profile.reply_timeout <= shared_.now;
  });
  const auto all = shared_.table.all().size();
  const auto live = shared_.table.live();
  if (all == live || shared_.random.below(live) >= all - live) return;
  const auto picked = shared_.table.sample(shared_.random, 1, [](const MemberRecord& member) {
    return member.state == MemberState::kDead && member.about().has_store;
  });
  if (!picked.empty()) say_hello(picked.front()->about().control_endpoint, picked.front());
}

void Joiner::hello(const std::string& endpoint, const MemberRecord* expected) {
  if (endpoint.empty() || endpoint == shared_.self().about().control_endpoint) return;
  const auto at = dialled_.find(endpoint);
  if (at != dialled_.end() && shared_.now < at->second + shared_.profile.reply_timeout) return;
  if (at == dialled_.end() && dialled_.size() >= kDialledLately) return;
  dialled_[endpoint] = shared_.now;
  say_hello(endpoint, expected);
}

void Joiner::answered(std::uint64_t round, NodeId from) {
  for (auto& contact : contacts_) {
    if (contact.round != round && contact.id != from) continue;
    contact.id = from;
    contact.attempts = 0;
    contact.next_at = kNever;
  }
}

void Joiner::was_self(std::uint64_t round) {
  for (auto& contact : contacts_) {
    if (contact.round != round) continue;
    contact.self = true;
    contact.next_at = kNever;
  }
}

void Joiner::synced(NodeId with) {
  for (auto& contact : contacts_) {
    if (contact.id == with) contact.synced = contact.tried = true;
  }
}

void Joiner::lost(NodeId member) {
  for (auto& contact : contacts_) {
    if (contact.id != member) continue;
    contact.attempts = 0;
    contact.next_at = shared_.now + shared_.jittered(shared_.profile.hello_backoff);
    contact.tried = true;
  }
}

bool Joiner::waits_for_sync(NodeId member) const {
  return std::any_of(contacts_.begin(), contacts_.end(), [&](const Contact& contact) {
    return contact.id == member && !contact.synced;
  });
}

std::optional<NodeId> Joiner::next_to_sync(NodeId except) const {
  for (const auto& contact : contacts_) {
    if (contact.id.is_zero() || contact.id == except || contact.synced) continue;
    const MemberRecord* member = shared_.table.find(contact.id);
    if (member != nullptr && member->live()) return contact.id;
  }
  return {};
}

bool Joiner::settled() const {
  bool seeds = false;
  bool synced = false;
  for (const auto& contact : contacts_) {
    if (contact.self) continue;
    seeds = seeds || contact.seed;
    synced = synced || contact.synced;
    if (contact.seed && !contact.tried) return false;
  }
  return synced || !seeds;
}

MonoTime Joiner::next() const {
  MonoTime next = kNever;
  if (shared_.table.all().size() > shared_.table.live()) next = reconnect_at_;
  for (const auto& contact : contacts_) next = std::min(next, contact.next_at);
  return next;
}

void Joiner::shift(Nanos by) {
  for (auto& contact : contacts_) {
    if (contact.next_at != kNever) contact.next_at += by;
  }
}

std::vector<std::string> Joiner::unanswered() const {
  std::vector<std::string> endpoints;
  for (const auto& contact : contacts_) {
    if (!contact.self && contact.id.is_zero()) endpoints.push_back(contact.endpoint);
  }
  for (const auto& [endpoint, at] : dialled_) endpoints.push_back(endpoint);
  return endpoints;
}

void Joiner::stop() {
  contacts_.clear();
  reconnect_at_ = kNever;
}

}  // namespace headrace
