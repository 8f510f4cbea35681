// Calls: of this node's program, of clients, and of nodes without a store to their owner. One table, one way to answer.
#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "core/job/lookup.h"
#include "core/peer/peer.h"
#include "core/value/value_codec.h"

namespace headrace {
namespace {

constexpr Millis kAskAgain{1000};
constexpr std::chrono::seconds kClientSilence{10};
constexpr std::chrono::seconds kRemoteWait{30};  // the most that a caller elsewhere is waited for
constexpr std::size_t kControlBody = 16 << 10;   // larger replies go over the data lane between nodes

Bytes encode_answer(const Answer& answer) {
  if (const auto* info = std::get_if<JobInfo>(&answer)) return job::encode_infos({*info});
  if (const auto* infos = std::get_if<std::vector<JobInfo>>(&answer)) return job::encode_infos(*infos);
  Bytes body;
  wire::Writer out(body);
  const auto& added = std::get<Added>(answer);
  out.array(2).u64(static_cast<std::uint64_t>(added.level)).array(added.ids.size());
  for (const auto& id : added.ids) out.id(id);
  return body;
}

}  // namespace

job::Ticket Peer::open_call(Caller caller, MonoTime deadline) {
  const auto ticket = ++last_ticket_;
  Call call;
  call.caller = std::move(caller);
  call.deadline = deadline;
  calls_.emplace(ticket, std::move(call));
  if (deadline != kNever) {
    deadlines_.emplace(deadline, ticket);
    next_call_check_ = std::min(next_call_check_, deadline);
  }
  return ticket;
}

void Peer::close_call(job::Ticket ticket, Result<Answer> answer, job::After after) {
  const auto at = calls_.find(ticket);
  if (at == calls_.end()) return;
  if (at->second.waits) drop_waiter(ticket, *at->second.waits);
  const Caller caller = std::move(at->second.caller);
  calls_.erase(at);  // its deadline finds nothing and is passed over
  if (caller.kind == Caller::Kind::kProgram) return act(AnswerCall{caller.call, std::move(answer)}, after);
  if (answer) return reply(caller, encode_answer(*answer), after);
  reply(caller, fail(answer.error()), after);
}

void Peer::reply(const Caller& caller, const Result<Bytes>& body, job::After after) {
  if (caller.kind == Caller::Kind::kNode) {
    const auto* member = membership_.find(caller.node);
    if (member == nullptr || member->numbers.incarnation != caller.life) return;  // whoever asked is gone
  }
  if (body && body->size() > limits::kJobPayloadBytes) {
    return reply(caller, fail(Code::kFull, "the answer has " + std::to_string(body->size()) + " bytes; at most " +
                                               std::to_string(limits::kJobPayloadBytes) +
                                               " come at a time: ask for fewer"));
  }
  wire::Reply reply;
  reply.call = caller.call;
  std::string text;
  const auto out = [&](Bytes message) {
    if (caller.kind == Caller::Kind::kClient) return act(SendClient{caller.client, std::move(message)}, after);
    const bool large = body && body->size() > kControlBody;
    act(Send{caller.node, large ? wire::Lane::kData : wire::Lane::kControl, std::move(message)}, after);
  };
  if (!body) {
    reply.code = static_cast<std::uint8_t>(body.error().code);
    text = body.error().message.substr(0, limits::kErrorBytes);
    reply.message = text;
  } else if (body->size() > limits::kChunkBytes) {
    reply.body.blob = next_blob();
    wire::cut_blob(reply.body.blob, *body, limits::kChunkBytes, out);
  } else {
    reply.body.inlined = *body;
  }
  Bytes message;
  encode(message, reply);
  out(std::move(message));
}

void Peer::added(job::Ticket ticket, Result<std::vector<JobId>> ids, Level level) {
  const auto at = calls_.find(ticket);
  if (at == calls_.end()) return;
  if (!ids) return close_call(ticket, fail(ids.error()));
  close_call(ticket, Answer(Added{std::move(*ids), level}), job::after(level));
}

void Peer::ended(const job::Job& job) {
  if (waiters_.empty()) return;
  const auto at = waiters_.find(job.id);
  if (at == waiters_.end()) return;
  const auto tickets = at->second;
  for (const auto ticket : tickets) {
    JobInfo info = job::to_info(job, nullptr, owner_->topics()[job.topic], config_.id, *job.finished);
    close_call(ticket, Answer(std::move(info)), job::after(job.level));
  }
}

void Peer::drop_waiter(job::Ticket ticket, const JobId& id) {
  const auto at = waiters_.find(id);
  if (at == waiters_.end()) return;
  std::erase(at->second, ticket);
  if (at->second.empty()) waiters_.erase(at);
}

// --- Calls of this node's program.

void Peer::add_jobs(const job::Now& now, CallNumber number, std::vector<job::NewJob> jobs, MonoTime deadline,
                    bool look_up) {
  const auto ticket = open_call({Caller::Kind::kProgram, number, {}, {}}, deadline);
  if (owner_) {
    if (!room_) {
      return close_call(ticket, fail(Code::kFull, "the disk under the data directory is full: free some space and "
                                                  "add again; nothing that was stored is lost"));
    }
    calls_.at(ticket).adds = true;
    for (const auto& job : jobs) {
      if (job.id) calls_.at(ticket).ids.push_back(*job.id);
    }
    return owner_->add(now, ticket, std::move(jobs), look_up);
  }
  Call& call = calls_.at(ticket);
  call.adds = true;
  for (auto& job : jobs) {
    if (!job.id) job.id = JobId::from_halves(random_.next(), random_.next());
    call.ids.push_back(*job.id);
  }
  auto shared = std::make_shared<std::vector<job::NewJob>>(std::move(jobs));
  forward(now, ticket, [this, ticket, shared, look_up](const NodeId& owner, bool repeat) {
    wire::CallAddJobs add;
    add.call = ticket;
    add.repeat = repeat || look_up;
    for (const auto& job : *shared) {
      wire::NewJob item{*job.id, job.topic, job.priority, job.not_before, job.max_attempts,
                        static_cast<std::uint8_t>(job.level), job.params, {}};
      if (job.payload.size() > limits::kChunkBytes) {
        item.payload.blob = next_blob();
        wire::cut_blob(item.payload.blob, job.payload, limits::kChunkBytes,
                       [&](Bytes piece) { act(Send{owner, wire::Lane::kData, std::move(piece)}); });
      } else {
        item.payload.inlined = job.payload;
      }
      add.jobs.push_back(item);
    }
    Bytes message;
    encode(message, add);
    act(Send{owner, wire::Lane::kData, std::move(message)});
  });
}

void Peer::get_job(const job::Now& now, CallNumber number, const JobId& id, MonoTime deadline) {
  const auto ticket = open_call({Caller::Kind::kProgram, number, {}, {}}, deadline);
  if (owner_) return look_at(now, ticket, id);
  forward(now, ticket, [this, ticket, id](const NodeId& owner, bool) {
    Bytes message;
    encode(message, wire::CallGetJob{ticket, id});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
}

void Peer::find_jobs(const job::Now& now, CallNumber number, JobFilter filter, MonoTime deadline) {
  const auto ticket = open_call({Caller::Kind::kProgram, number, {}, {}}, deadline);
  if (owner_) return search(now, ticket, std::move(filter));
  forward(now, ticket, [this, ticket, filter](const NodeId& owner, bool) {
    Bytes message;
    const auto state = filter.state ? static_cast<std::uint8_t>(*filter.state) : std::uint8_t{0};
    encode(message, wire::CallFindJobs{ticket, state, filter.topic, filter.limit});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
}

void Peer::wait_job(const job::Now& now, CallNumber number, const JobId& id, MonoTime deadline) {
  const auto ticket = open_call({Caller::Kind::kProgram, number, {}, {}}, deadline);
  if (owner_) {
    calls_.at(ticket).waits = id;
    waiters_[id].push_back(ticket);
    return look_at(now, ticket, id);
  }
  forward(now, ticket, [this, ticket, id](const NodeId& owner, bool) {
    Bytes message;
    encode(message, wire::CallWaitJob{ticket, id, kAskAgain * 20});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
  calls_.at(ticket).waits = id;
}

void Peer::forget_call(CallNumber number) {
  for (auto& [ticket, call] : calls_) {
    if (call.caller.kind != Caller::Kind::kProgram || call.caller.call != number) continue;
    if (call.waits) drop_waiter(ticket, *call.waits);
    calls_.erase(ticket);
    return;
  }
}

// --- Looking. Ends the call, unless it waits for the job's end and that has not come.

void Peer::look_at(const job::Now& now, job::Ticket ticket, const JobId& id) {
  const auto finish = [this, ticket](Result<Answer> answer) {
    const auto at = calls_.find(ticket);
    if (at == calls_.end()) return;
    const auto* info = answer ? std::get_if<JobInfo>(&*answer) : nullptr;
    if (at->second.waits && info != nullptr && !is_terminal(info->state)) return;
    close_call(ticket, std::move(answer));
  };
  if (auto info = owner_->info_in_memory(now, id)) return finish(Answer(std::move(*info)));
  const auto number = owner_->number_of(id);
  read([this, finish, id, number](const Snapshot& snapshot) -> job::Continuation {
    auto found = std::make_shared<Result<std::optional<job::Found>>>(job::read_by_id(snapshot, id, number));
    return [this, finish, id, found](const job::Now& later) {
      if (!*found) return finish(fail(found->error()));
      if (!**found) {
        return finish(fail(Code::kNotFound, "there is no job " + id.hex() +
                                                " here: it was never added, or has fallen out of the history"));
      }
      const auto& [job, dispatch] = ***found;
      finish(Answer(job::to_info(job, dispatch ? &*dispatch : nullptr, owner_->topics()[job.topic], config_.id,
                                 later.wall)));
    };
  });
}

void Peer::search(const job::Now& now, job::Ticket ticket, JobFilter filter) {
  auto memory = std::make_shared<std::vector<JobInfo>>(owner_->find_in_memory(now, filter));
  read([this, ticket, filter, memory, names = owner_->topics(), wall = now.wall](const Snapshot& snapshot)
           -> job::Continuation {
    auto found = std::make_shared<Result<std::vector<JobInfo>>>(
        job::find_jobs(snapshot, filter, names, config_.id, wall));
    return [this, ticket, filter, memory, found](const job::Now&) {
      if (!*found) return close_call(ticket, fail(found->error()));
      auto& rows = **found;
      rows.insert(rows.end(), memory->begin(), memory->end());
      if (rows.size() > filter.limit) rows.resize(filter.limit);
      close_call(ticket, Answer(std::move(rows)));
    };
  });
}

// --- Calls that another node answers.

// One owner for as long as this node runs: asked elsewhere, a repeated add would be another job, and a job unknown.
std::optional<NodeId> Peer::owner_node() {
  if (!chosen_owner_) chosen_owner_ = choose_owner();
  return chosen_owner_;
}

std::optional<NodeId> Peer::choose_owner() const {
  const auto with_store = [](const auto& member) { return member.live() && member.about->has_store; };
  const auto& members = membership_.members();
  const auto at = [&](const std::string& endpoint) {
    return std::find_if(members.begin(), members.end(), [&](const auto& member) {
      return with_store(member) && member.about->control_endpoint == endpoint;
    });
  };
  if (!config_.owner.empty()) {
    const auto owner = at(config_.owner);
    return owner == members.end() ? std::nullopt : std::optional(owner->id);
  }
  for (const auto& seed : config_.seeds) {
    if (const auto owner = at(seed); owner != members.end()) return owner->id;
  }
  // No seed has a store, or it goes by another name of its host: then one of those that the seeds know, the same one
  // each time, and not before all of them are known.
  if (!membership_.ready()) return {};
  const NodeId* best = nullptr;
  for (const auto& member : members) {
    if (with_store(member) && member.id != config_.id && (best == nullptr || member.id < *best)) best = &member.id;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

void Peer::forward(const job::Now& now, job::Ticket ticket, std::function<void(const NodeId&, bool)> send_to) {
  if (config_.owner.empty() && config_.seeds.empty() && !owner_node()) {
    return close_call(ticket, fail(Code::kNoStore, "this node has no data directory and knows no node that has one: "
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
  if (member == nullptr || !member->live()) return;  // not met, or away: asked again until the deadline
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

void Peer::check_calls(const job::Now& now) {
  if (next_call_check_ > now.mono) return;
  next_call_check_ = kNever;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.mono) {
    const auto ticket = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    const auto at = calls_.find(ticket);
    if (at == calls_.end() || at->second.deadline > now.mono) continue;  // over, or put off
    Call& call = at->second;
    if (call.adds && (owner_ || call.asked)) {
      close_call(ticket, fail(unknown_outcome(call.ids, "no answer in time")));
    } else if (call.ask && !call.asked) {
      close_call(ticket, fail(Code::kUnreachable, "no node with a store was met in time: is the node that this one "
                                                  "joins through running, with a data directory?"));
    } else if (call.waits && call.caller.kind != Caller::Kind::kProgram) {
      const auto id = *call.waits;  // its patience is over: tell it how the job stands
      drop_waiter(ticket, id);
      call.waits.reset();
      look_at(now, ticket, id);
    } else {
      close_call(ticket, fail(Code::kTimeout, call.waits ? "job " + call.waits->hex() + " has not ended in time"
                                                         : std::string("no answer in time")));
    }
  }
  if (!deadlines_.empty()) next_call_check_ = deadlines_.begin()->first;
  std::vector<job::Ticket> due;
  for (const auto& [ticket, call] : calls_) {
    if (!call.ask) continue;
    if (call.ask_at <= now.mono) due.push_back(ticket);
    else next_call_check_ = std::min(next_call_check_, call.ask_at);
  }
  std::sort(due.begin(), due.end());
  for (const auto ticket : due) ask(now, calls_.at(ticket));
  for (auto at = clients_.begin(); at != clients_.end();) {
    const auto silent = at->second.heard + kClientSilence;
    const Bytes client = at->first;
    ++at;
    if (silent <= now.mono) on_client_gone(now, client);
    else next_call_check_ = std::min(next_call_check_, silent);
  }
}

std::vector<AnswerCall> Peer::abandon(const Error& why) {
  for (auto& [action, after] : turn_) gate_.add(std::move(action), after, last_commit_ + 1);
  turn_.clear();
  std::vector<AnswerCall> answers = gate_.abandon(why);
  for (const auto& [ticket, call] : calls_) {
    if (call.caller.kind != Caller::Kind::kProgram) continue;
    answers.push_back({call.caller.call, fail(why)});
  }
  calls_.clear();
  return answers;
}

// --- Calls of others.

bool Peer::on_call(const job::Now& now, const Caller& from, wire::Kind kind, wire::Reader& in, const Bytes& source) {
  Caller caller = from;
  const auto refuse_without_store = [&] {
    reply(caller, fail(Code::kNoStore, "node " + config_.name + " has no data directory: ask one that has"));
  };
  switch (kind) {
    case wire::Kind::kCallHello: {
      wire::CallHello call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      wire::HelloBody body;
      body.id = config_.id;
      body.incarnation = config_.incarnation;
      body.name = config_.name;
      body.cluster = config_.cluster;
      body.data_endpoint = config_.data_endpoint;
      body.has_store = config_.has_store;
      reply(caller, encode_body(body));
      return true;
    }
    case wire::Kind::kCallAddJobs: {
      wire::CallAddJobs call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      if (!owner_) return refuse_without_store(), true;
      on_add_call(now, std::move(caller), call, source);
      return true;
    }
    case wire::Kind::kCallGetJob: {
      wire::CallGetJob call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      if (!owner_) return refuse_without_store(), true;
      look_at(now, open_call(std::move(caller), now.mono + kRemoteWait), call.id);
      return true;
    }
    case wire::Kind::kCallFindJobs: {
      wire::CallFindJobs call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      if (!owner_) return refuse_without_store(), true;
      JobFilter filter;
      if (call.state != 0) filter.state = static_cast<JobState>(call.state);
      filter.topic = std::string(call.topic);
      filter.limit = static_cast<std::size_t>(std::min<std::uint64_t>(call.limit, limits::kFindLimit));
      search(now, open_call(std::move(caller), now.mono + kRemoteWait), std::move(filter));
      return true;
    }
    case wire::Kind::kCallWaitJob: {
      wire::CallWaitJob call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      if (!owner_) return refuse_without_store(), true;
      on_wait_call(now, std::move(caller), call);
      return true;
    }
    case wire::Kind::kCallMembers: {
      wire::CallMembers call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      reply(caller, wire::encode_body(members()));
      return true;
    }
    case wire::Kind::kCallPublish: {
      wire::CallPublish call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      auto payload = payload_of(source, call.payload);
      if (!payload) return true;
      const auto number = ++last_publish_;
      publishes_.emplace(number, std::move(caller));
      act(ClientPublish{number, std::string(call.topic), Bytes(call.params), std::move(*payload), call.patience});
      return true;
    }
    case wire::Kind::kCallSubscribe: {
      wire::CallSubscribe call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      on_subscribe(now, std::move(caller), call);
      return true;
    }
    case wire::Kind::kCallUnsubscribe: {
      wire::CallUnsubscribe call;
      if (!decode(in, call)) return true;
      caller.call = call.call;
      if (const auto client = clients_.find(caller.client); client != clients_.end()) {
        if (const auto at = client->second.subscriptions.find(call.subscription);
            at != client->second.subscriptions.end()) {
          subscriptions_.erase(at->second);
          act(ClientUnsubscribe{at->second});
          client->second.subscriptions.erase(at);
        }
      }
      reply(caller, Bytes{});
      return true;
    }
    default: return false;
  }
}

void Peer::on_add_call(const job::Now& now, Caller caller, const wire::CallAddJobs& call, const Bytes& source) {
  std::vector<job::NewJob> jobs;
  jobs.reserve(call.jobs.size());
  for (const auto& item : call.jobs) {
    auto payload = payload_of(source, item.payload);
    if (!payload) return;  // lost on the way: the caller repeats the whole
    job::NewJob job{item.id, std::string(item.topic), item.priority, item.not_before, item.max_attempts,
                    static_cast<Level>(item.level), Bytes(item.params), std::move(*payload)};
    if (auto checked = job::check_new(job); !checked) return reply(caller, fail(checked.error()));
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) return reply(caller, fail(Code::kInvalid, "an add without jobs"));
  if (!room_) {
    return reply(caller, fail(Code::kFull, "the disk of node " + config_.name + " is full: free some space and add "
                                           "again; nothing that was stored is lost"));
  }
  const auto ticket = open_call(std::move(caller), kNever);
  calls_.at(ticket).adds = true;
  owner_->add(now, ticket, std::move(jobs), call.repeat);
}

// Asked again while it waits, it waits on: one answer, however often the question comes.
void Peer::on_wait_call(const job::Now& now, Caller caller, const wire::CallWaitJob& call) {
  const auto deadline = now.mono + std::min<Nanos>(call.patience, kRemoteWait);
  if (const auto at = waiters_.find(call.id); at != waiters_.end()) {
    for (const auto ticket : at->second) {
      Call& waiting = calls_.at(ticket);
      if (waiting.caller != caller) continue;
      waiting.deadline = deadline;
      deadlines_.emplace(deadline, ticket);
      next_call_check_ = std::min(next_call_check_, deadline);
      return;
    }
  }
  const auto ticket = open_call(std::move(caller), deadline);
  calls_.at(ticket).waits = call.id;
  waiters_[call.id].push_back(ticket);
  look_at(now, ticket, call.id);
}

void Peer::on_subscribe(const job::Now& now, Caller caller, const wire::CallSubscribe& call) {
  if (caller.kind != Caller::Kind::kClient) {
    return reply(caller, fail(Code::kInvalid, "only clients subscribe through a node"));
  }
  if (auto topic = TopicPattern::parse(call.topic); !topic) return reply(caller, fail(topic.error()));
  if (!clients_.contains(caller.client) && clients_.size() >= limits::kClients) {
    return reply(caller, fail(Code::kFull, std::to_string(limits::kClients) + " clients are served already"));
  }
  Client& client = clients_[caller.client];
  client.heard = now.mono;
  next_call_check_ = std::min(next_call_check_, now.mono + kClientSilence);
  if (!client.subscriptions.contains(call.subscription)) {  // else a repeat
    const auto number = ++last_subscription_;
    client.subscriptions[call.subscription] = number;
    subscriptions_[number] = {caller.client, call.subscription};
    act(ClientSubscribe{number, std::string(call.topic), call.sink});
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
                   [&, to = client](Bytes piece) { act(SendClient{to, std::move(piece)}); });
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
