// Calls of others: of clients, and of nodes without a store.
#include <algorithm>
#include <type_traits>

#include "core/base/limits.h"
#include "core/peer/peer.h"

namespace headrace {
namespace {

constexpr std::chrono::seconds kClientSilence{10};
constexpr std::chrono::seconds kRemoteWait{30};  // the most that a caller elsewhere is waited for

}  // namespace

bool Peer::on_call(const job::Now& now, const Caller& from, wire::Kind kind, wire::Reader& in,
                   const Bytes& source) {
  using wire::Kind;
  switch (kind) {
    case Kind::kCallHello: serve<wire::CallHello>(now, from, in, source); return true;
    case Kind::kCallMembers: serve<wire::CallMembers>(now, from, in, source); return true;
    case Kind::kCallAddJobs: serve<wire::CallAddJobs>(now, from, in, source); return true;
    case Kind::kCallGetJob: serve<wire::CallGetJob>(now, from, in, source); return true;
    case Kind::kCallFindJobs: serve<wire::CallFindJobs>(now, from, in, source); return true;
    case Kind::kCallWaitJob: serve<wire::CallWaitJob>(now, from, in, source); return true;
    case Kind::kCallPublish: serve<wire::CallPublish>(now, from, in, source); return true;
    case Kind::kCallSubscribe: serve<wire::CallSubscribe>(now, from, in, source); return true;
    case Kind::kCallUnsubscribe: serve<wire::CallUnsubscribe>(now, from, in, source); return true;
    default: return false;
  }
}

template <typename Call>
void Peer::serve(const job::Now& now, Caller caller, wire::Reader& in, const Bytes& source) {
  Call call;
  if (!decode(in, call)) return;
  caller.call = call.call;
  if (const auto ticket = under_way(caller)) {
    if constexpr (std::is_same_v<Call, wire::CallWaitJob>) wait_on(now, *ticket, call.patience);
    return;
  }
  if (admits(caller)) on(now, std::move(caller), call, source);
}

// The answer is on its way to the same question, asked before.
std::optional<job::Ticket> Peer::under_way(const Caller& caller) const {
  const auto open = open_.find(caller.source());
  if (open == open_.end()) return {};
  const auto at = open->second.find(caller.call);
  return at == open->second.end() ? std::nullopt : std::optional(at->second);
}

// False for one too many, which is refused: those of one source, then all together.
bool Peer::admits(const Caller& caller) {
  const auto open = open_.find(caller.source());
  if (open != open_.end() && open->second.size() >= limits::kClientCalls) {
    reply(caller,
          fail(Code::kFull, std::to_string(limits::kClientCalls) +
                                " calls of this client are under way: wait for some of them"));
    return false;
  }
  if (calls_.size() + publishes_.size() < limits::kPendingCalls) return true;
  reply(caller,
        fail(Code::kFull, std::to_string(limits::kPendingCalls) + " calls are under way at node " +
                              config_.name + ": try again"));
  return false;
}

// Whoever waits for a job asks again while it does.
void Peer::wait_on(const job::Now& now, job::Ticket ticket, Nanos patience) {
  Call& call = calls_.at(ticket);
  if (!call.waits) return;
  call.deadline = now.mono + std::min<Nanos>(patience, kRemoteWait);
  deadlines_.emplace(call.deadline, ticket);
  next_call_check_ = std::min(next_call_check_, call.deadline);
}

// Only clients are passed on: a node asks one that has a store.
bool Peer::can_answer(const Caller& caller) {
  if (owner_ || caller.kind == Caller::Kind::kClient) return true;
  reply(caller,
        fail(Code::kNoStore, "node " + config_.name + " has no data directory: ask one that has"));
  return false;
}

void Peer::on(const job::Now&, Caller caller, const wire::CallHello&, const Bytes&) {
  wire::HelloBody body;
  body.id = config_.id;
  body.incarnation = config_.incarnation;
  body.name = config_.name;
  body.cluster = config_.cluster;
  body.data_endpoint = config_.data_endpoint;
  body.has_store = config_.has_store;
  reply(caller, encode_body(body));
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallMembers&, const Bytes&) {
  reply(caller, wire::encode_body(members(now)));
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallAddJobs& call,
              const Bytes& source) {
  if (!can_answer(caller)) return;
  std::vector<job::NewJob> jobs;
  jobs.reserve(call.jobs.size());
  for (const auto& item : call.jobs) {
    auto payload = payload_of(source, item.payload);
    if (!payload) return;  // lost on the way: the caller repeats the whole
    job::NewJob job{
        item.id,           std::string(item.topic),        item.priority,      item.not_before,
        item.max_attempts, static_cast<Level>(item.level), Bytes(item.params), std::move(*payload)};
    if (auto checked = job::check_new(job); !checked) return reply(caller, fail(checked.error()));
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) return reply(caller, fail(Code::kInvalid, "an add without jobs"));
  add(now, std::move(caller), std::move(jobs), owner_ ? kNever : now.mono + kRemoteWait,
      call.repeat);
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallGetJob& call, const Bytes&) {
  if (can_answer(caller)) get(now, std::move(caller), call.id, now.mono + kRemoteWait);
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallFindJobs& call, const Bytes&) {
  if (!can_answer(caller)) return;
  JobFilter filter;
  if (call.state != 0) filter.state = static_cast<JobState>(call.state);
  filter.topic = std::string(call.topic);
  filter.limit = static_cast<std::size_t>(std::min<std::uint64_t>(call.limit, limits::kFindLimit));
  find(now, std::move(caller), std::move(filter), now.mono + kRemoteWait);
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallWaitJob& call, const Bytes&) {
  if (!can_answer(caller)) return;
  wait(now, std::move(caller), call.id, now.mono + std::min<Nanos>(call.patience, kRemoteWait));
}

void Peer::on(const job::Now&, Caller caller, const wire::CallPublish& call, const Bytes& source) {
  auto payload = payload_of(source, call.payload);
  if (!payload) return;
  const auto number = ++last_publish_;
  publishes_.emplace(number, std::move(caller));
  act(ClientPublish{number, std::string(call.topic), Bytes(call.params), std::move(*payload),
                    call.patience});
}

void Peer::on(const job::Now& now, Caller caller, const wire::CallSubscribe& call, const Bytes&) {
  if (caller.kind != Caller::Kind::kClient) {
    return reply(caller, fail(Code::kInvalid, "only clients subscribe through a node"));
  }
  if (auto topic = TopicPattern::parse(call.topic); !topic)
    return reply(caller, fail(topic.error()));
  if (!clients_.contains(caller.client) && clients_.size() >= limits::kClients) {
    return reply(caller, fail(Code::kFull,
                              std::to_string(limits::kClients) + " clients are served already"));
  }
  Client& client = clients_[caller.client];
  client.heard = now.mono;
  next_call_check_ = std::min(next_call_check_, now.mono + kClientSilence);
  if (!client.subscriptions.contains(call.subscription)) {  // else a repeat
    if (client.subscriptions.size() >= limits::kClientSubscriptions) {
      return reply(
          caller,
          fail(Code::kFull, std::to_string(limits::kClientSubscriptions) +
                                " registrations of this client are served already: give some back, "
                                "or register a pattern"));
    }
    const auto number = ++last_subscription_;
    client.subscriptions[call.subscription] = number;
    subscriptions_[number] = {caller.client, call.subscription};
    act(ClientSubscribe{number, std::string(call.topic), call.sink});
  }
  reply(caller, Bytes{});
}

void Peer::on(const job::Now&, Caller caller, const wire::CallUnsubscribe& call, const Bytes&) {
  if (const auto client = clients_.find(caller.client); client != clients_.end()) {
    auto& subscriptions = client->second.subscriptions;
    if (const auto at = subscriptions.find(call.subscription); at != subscriptions.end()) {
      subscriptions_.erase(at->second);
      act(ClientUnsubscribe{at->second});
      subscriptions.erase(at);
    }
  }
  reply(caller, Bytes{});
}

void Peer::on_client_gone(const job::Now&, BytesView client) {
  const auto at = clients_.find(Bytes(client));
  if (at == clients_.end()) return;
  for (const auto& [theirs, ours] : at->second.subscriptions) {
    subscriptions_.erase(ours);
    act(ClientUnsubscribe{ours});
  }
  blobs_.erase(at->first);
  clients_.erase(at);
}

void Peer::client_event(std::uint64_t subscription, const wire::ClientEvent& event) {
  const auto at = subscriptions_.find(subscription);
  if (at == subscriptions_.end()) return;
  const auto& [client, theirs] = at->second;
  wire::ClientEvent copy = event;
  copy.subscription = theirs;
  if (copy.payload.inlined.size() > limits::kChunkBytes) {
    copy.payload.blob = next_blob();
    wire::cut_blob(copy.payload.blob, copy.payload.inlined, limits::kChunkBytes,
                   [&, to = client](Bytes piece) {
                     act(SendClient{to, std::move(piece)});
                   });
    copy.payload.inlined = {};
  }
  Bytes message;
  encode(message, copy);
  act(SendClient{client, std::move(message)});
}

void Peer::client_published(std::uint64_t publish, const Result<wire::PublishedBody>& result) {
  const auto at = publishes_.find(publish);
  if (at == publishes_.end()) return;
  const Caller caller = std::move(at->second);
  publishes_.erase(at);
  if (result) return reply(caller, wire::encode_body(*result));
  reply(caller, fail(result.error()));
}

}  // namespace headrace
