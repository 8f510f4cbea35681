// Calls of a node without a store: another one, its owner, answers them.
#include <algorithm>

#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "core/peer/peer.h"

namespace headrace {
namespace {

constexpr Millis kAskAgain{1000};

}  // namespace

// One owner for as long as this node runs: asked elsewhere, a repeated add would be another job, and a job unknown.
std::optional<NodeId> Peer::owner_node() {
  if (!chosen_owner_) chosen_owner_ = choose_owner();
  return chosen_owner_;
}

std::optional<NodeId> Peer::choose_owner() const {
  const auto with_store = [](const auto& member) {
    return member.live() && member.about().has_store;
  };
  const auto& members = membership_.members();
  const auto at = [&](const std::string& endpoint) {
    return std::find_if(members.begin(), members.end(), [&](const auto& member) {
      return with_store(member) && member.about().control_endpoint == endpoint;
    });
  };
  if (!config_.owner.empty()) {
    const auto owner = at(config_.owner);
    return owner == members.end() ? std::nullopt : std::optional(owner->id());
  }
  for (const auto& seed : config_.seeds) {
    if (const auto owner = at(seed); owner != members.end()) return owner->id();
  }
  // No seed has a store, or it goes by another name of its host: then one of those that the seeds know, the same one
  // each time, and not before all of them are known.
  if (!membership_.ready()) return {};
  std::optional<NodeId> best;
  for (const auto& member : members) {
    const auto id = member.id();
    if (with_store(member) && id != config_.id && (!best || id < *best)) best = id;
  }
  return best;
}

void Peer::forward(const job::Now& now, job::Ticket ticket,
                   std::function<void(const NodeId&, bool)> send_to) {
  if (config_.owner.empty() && config_.seeds.empty() && !owner_node()) {
    return close_call(ticket,
                      fail(Code::kNoStore,
                           "this node has no data directory and knows no node that has one: "
                           "give it `data`, or `join` a node that has"));
  }
  Call& call = calls_.at(ticket);
  call.ask = std::move(send_to);
  ask(now, call);
}

void Peer::ask(const job::Now& now, Call& call) {
  call.ask_at = now.mono + kAskAgain;
  next_call_check_ = std::min(next_call_check_, call.ask_at);
  const auto owner = owner_node();
  const auto* member = owner ? membership_.find(*owner) : nullptr;
  if (member == nullptr || !member->live())
    return;  // not met, or away: asked again until the deadline
  call.ask(*owner, call.asked);
  call.asked = true;
}

void Peer::on_reply(const job::Now& now, wire::Reader& in, const Bytes& source) {
  wire::Reply reply;
  if (!decode(in, reply)) return;
  const auto at = calls_.find(reply.call);
  if (at == calls_.end() || !at->second.ask) return;
  Call& call = at->second;
  if (reply.code != 0) {
    return close_call(reply.call, fail(static_cast<Code>(reply.code), std::string(reply.message)));
  }
  const auto body = payload_of(source, reply.body);
  if (!body) return;  // lost: it is asked again
  if (call.adds) {
    wire::Reader added(*body);
    added.array(2);
    const auto level = static_cast<Level>(added.u64(2));
    if (!added.ok()) return;
    return close_call(reply.call, Answer(Added{call.ids, level}));
  }
  auto infos = job::decode_infos(*body);
  if (!infos) return close_call(reply.call, fail(infos.error()));
  if (call.waits && !infos->empty() && !is_terminal(infos->front().state)) return ask(now, call);
  // A list of one is the answer to a get as well; the caller knows which it asked for.
  close_call(reply.call, Answer(std::move(*infos)));
}

}  // namespace headrace
