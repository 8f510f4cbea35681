#include "tests/unit/member/cluster.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "core/wire/codec.h"

namespace headrace::test {

Cluster::Node& Cluster::start(std::size_t place, const Options& options) {
  while (nodes_.size() <= place) {
    auto fresh = std::make_unique<Node>();
    fresh->id = NodeId::from_halves(0x1000 + nodes_.size(), 7);
    nodes_.push_back(std::move(fresh));
  }
  Node& node = *nodes_[place];
  node.incarnation += 1;
  node.endpoint = options.endpoint.empty() ? endpoint_of(place) : options.endpoint;
  node.events.clear();
  node.advert.clear();
  MembershipOptions own;
  own.id = node.id;
  own.incarnation = node.incarnation;
  own.profile = options.profile;
  own.about.name = "node-" + std::to_string(place);
  own.about.control_endpoint = node.endpoint;
  own.about.data_endpoint = node.endpoint + ":data";
  own.about.has_store = options.has_store;
  for (const auto seed : options.seeds) own.seeds.push_back(endpoint_of(seed));
  for (const auto peer : options.remembered) own.remembered.push_back(endpoint_of(peer));
  node.membership = std::make_unique<Membership>(std::move(own), random_);
  node->start(now);
  set_advert(place, "advert of " + std::to_string(place));
  return node;
}

void Cluster::set_advert(std::size_t place, Bytes advert) {
  nodes_[place]->advert = advert;
  (*nodes_[place])->set_advert(now, std::move(advert));
  drain(place);
}

void Cluster::leave(std::size_t place) {
  (*nodes_[place])->leave(now);
  drain(place);
}

void Cluster::drain(std::size_t place) {
  Node& node = *nodes_[place];
  for (auto& output : node->take_outputs()) {
    auto* send = std::get_if<SendMember>(&output);
    if (send == nullptr) {
      node.events.push_back(std::move(output));
      continue;
    }
    wire::Reader in(send->message);
    in.array(64);
    ++sent;
    ++sent_by_kind[in.u64()];
    largest = std::max(largest, send->message.size());
    if (network_.chance(loss)) continue;
    const Nanos delay{network_.between(delay_min.count(), delay_max.count())};
    mail_.push({now + delay, ++mails_, place, node.id, node.incarnation, std::move(*send)});
  }
}

void Cluster::deliver(Mail mail) {
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    Node& node = *nodes_[place];
    if (node.membership == nullptr || node.endpoint != mail.send.endpoint) continue;
    if (cut(mail.from, place)) return;
    const auto free = std::max(stalled_until(mail.from), stalled_until(place));
    if (free > now) {
      mail.at = free;
      return mail_.push(std::move(mail));
    }
    if (!mail.send.to.is_zero() && mail.send.to != node.id) return;
    trace = (trace ^ static_cast<std::uint64_t>(now.time_since_epoch().count()) ^ place) *
            0x100000001b3ULL;
    for (const char c : mail.send.message) {
      trace = (trace ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    node->peer_heard(now, mail.sender, mail.incarnation);
    if (!node->receive(now, mail.sender, mail.send.message)) std::abort();
    return drain(place);
  }
}

MonoTime Cluster::next() const {
  MonoTime next = mail_.empty() ? kNever : mail_.top().at;
  for (const auto& node : nodes_) {
    if (node->membership) next = std::min(next, node->membership->next_timer());
  }
  return next;
}

bool Cluster::run_until(Nanos within, const std::function<bool()>& condition) {
  const auto deadline = now + within;
  while (!condition()) {
    const auto at = next();
    if (at > deadline) {
      now = deadline;
      return condition();
    }
    now = std::max(now, at);
    while (!mail_.empty() && mail_.top().at <= now) {
      const auto mail = mail_.top();
      mail_.pop();
      deliver(mail);
    }
    for (std::size_t place = 0; place < nodes_.size(); ++place) {
      Node& node = *nodes_[place];
      if (!node.membership || node->next_timer() > now) continue;
      node->tick(now);
      if (node->next_timer() <= now) std::abort();  // a timer that is due for ever
      drain(place);
    }
  }
  return true;
}

bool Cluster::agreed() const {
  std::size_t alive = 0;
  for (const auto& node : nodes_) alive += node->membership && !(*node)->left() ? 1 : 0;
  for (const auto& viewer : nodes_) {
    if (!viewer->membership || (*viewer)->left()) continue;
    if ((*viewer)->live() != alive) return false;
    for (const auto& node : nodes_) {
      if (!node->membership || (*node)->left()) continue;
      const MemberRecord* member = (*viewer)->find(node->id);
      if (member == nullptr || member->state != MemberState::kAlive) return false;
      if (member->numbers() != (*node)->numbers()) return false;
      if (member->about().control_endpoint != node->endpoint) return false;
      if ((*viewer)->advert(node->id) != node->advert) return false;
    }
  }
  return true;
}

bool Cluster::all_see(std::size_t place, MemberState state) const {
  const auto id = nodes_[place]->id;
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& viewer) {
    if (!viewer->membership || viewer->id == id) return true;
    const MemberRecord* member = (*viewer)->find(id);
    return member != nullptr && member->state == state;
  });
}

std::size_t Cluster::count(std::size_t place,
                           const std::function<bool(const MemberOutput&)>& fits) const {
  const auto& events = nodes_[place]->events;
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), fits));
}

std::size_t Cluster::deaths_seen() const {
  std::size_t deaths = 0;
  for (std::size_t place = 0; place < nodes_.size(); ++place) {
    deaths += count(place, [](const MemberOutput& output) {
      const auto* changed = std::get_if<MemberChanged>(&output);
      return changed != nullptr && changed->what == MemberChanged::What::kState &&
             changed->after == MemberState::kDead;
    });
  }
  return deaths;
}

Cluster::Options joins(std::vector<std::size_t> seeds) {
  Cluster::Options options;
  options.seeds = std::move(seeds);
  return options;
}

void form(Cluster& cluster, std::size_t size) {
  cluster.start(0);
  for (std::size_t place = 1; place < size; ++place) cluster.start(place, joins({0}));
  REQUIRE(cluster.run_until(std::chrono::seconds(10), [&] { return cluster.agreed(); }));
}

}  // namespace headrace::test
