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

constexpr std::chrono::seconds kClientSilence{10};
constexpr Millis kOwnerWait{20'000};             // then it is asked again
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

Caller of_program(CallNumber number) { return {Caller::Kind::kProgram, number, {}, {}, 0}; }

}  // namespace

job::Ticket Peer::open_call(Caller caller, MonoTime deadline) {
  const auto ticket = ++last_ticket_;
  if (caller.kind != Caller::Kind::kProgram) open_[caller.source()].emplace(caller.call, ticket);
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
  const auto open = open_.find(caller.source());
  open->second.erase(caller.call);
  if (open->second.empty()) open_.erase(open);
  if (answer) return reply(caller, encode_answer(*answer), after);
  reply(caller, fail(answer.error()), after);
}

void Peer::reply(const Caller& caller, const Result<Bytes>& body, job::After after) {
  if (caller.kind == Caller::Kind::kNode) {
    const auto* member = membership_.find(caller.node);
    if (member == nullptr || member->life->incarnation != caller.life)
      return;  // whoever asked is gone
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
  add(now, of_program(number), std::move(jobs), deadline, look_up);
}

void Peer::get_job(const job::Now& now, CallNumber number, const JobId& id, MonoTime deadline) {
  get(now, of_program(number), id, deadline);
}

void Peer::find_jobs(const job::Now& now, CallNumber number, JobFilter filter, MonoTime deadline) {
  find(now, of_program(number), std::move(filter), deadline);
}

void Peer::wait_job(const job::Now& now, CallNumber number, const JobId& id, MonoTime deadline) {
  wait(now, of_program(number), id, deadline);
}

// --- Calls, whoever makes them.

void Peer::add(const job::Now& now, Caller caller, std::vector<job::NewJob> jobs, MonoTime deadline,
               bool look_up) {
  const auto ticket = open_call(std::move(caller), deadline);
  if (owner_) {
    if (!room_) {
      return close_call(ticket,
                        fail(Code::kFull, "the disk of node " + config_.name +
                                              " is full: free some space "
                                              "and add again; nothing that was stored is lost"));
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

void Peer::get(const job::Now& now, Caller caller, const JobId& id, MonoTime deadline) {
  const auto ticket = open_call(std::move(caller), deadline);
  if (owner_) return look_at(now, ticket, id);
  forward(now, ticket, [this, ticket, id](const NodeId& owner, bool) {
    Bytes message;
    encode(message, wire::CallGetJob{ticket, id});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
}

void Peer::find(const job::Now& now, Caller caller, JobFilter filter, MonoTime deadline) {
  const auto ticket = open_call(std::move(caller), deadline);
  if (owner_) return search(now, ticket, std::move(filter));
  forward(now, ticket, [this, ticket, filter](const NodeId& owner, bool) {
    Bytes message;
    const auto state = filter.state ? static_cast<std::uint8_t>(*filter.state) : std::uint8_t{0};
    encode(message, wire::CallFindJobs{ticket, state, filter.topic, filter.limit});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
}

void Peer::wait(const job::Now& now, Caller caller, const JobId& id, MonoTime deadline) {
  const auto ticket = open_call(std::move(caller), deadline);
  calls_.at(ticket).waits = id;
  waiters_[id].push_back(ticket);
  if (owner_) return look_at(now, ticket, id);
  forward(now, ticket, [this, ticket, id](const NodeId& owner, bool) {
    Bytes message;
    const bool waits = calls_.at(ticket).waits.has_value();
    encode(message, wire::CallWaitJob{ticket, id, waits ? kOwnerWait : Millis{0}});
    act(Send{owner, wire::Lane::kControl, std::move(message)});
  });
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
      call.deadline = now.mono + kClientSilence;
      deadlines_.emplace(call.deadline, ticket);
      if (owner_)
        look_at(now, ticket, id);
      else
        ask(now, call);
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
  drop_silent_clients(now);
}

void Peer::drop_silent_clients(const job::Now& now) {
  for (auto at = clients_.begin(); at != clients_.end();) {
    const auto silent = at->second.heard + kClientSilence;
    const Bytes client = at->first;
    ++at;
    if (silent <= now.mono) {
      on_client_gone(now, client);
    } else {
      next_call_check_ = std::min(next_call_check_, silent);
    }
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
  open_.clear();
  return answers;
}

}  // namespace headrace
