// What a turn of the Peer asks for, carried out.
#include "core/base/limits.h"
#include "core/wire/kinds.h"
#include "tools/sim/describe.h"
#include "tools/sim/process.h"

namespace headrace::sim {
namespace {

wire::Kind kind_of(wire::Reader& in) {
  in.array(UINT32_MAX);
  return static_cast<wire::Kind>(in.u64(UINT8_MAX));
}

bool is_of_jobs(wire::Kind kind) {
  return kind >= wire::Kind::kAnnounce && kind <= wire::Kind::kJobClaimsAck;
}

std::size_t index(wire::Lane lane) { return static_cast<std::size_t>(lane); }

}  // namespace

void Machine::carry_out(TurnOutput output) {
  if (output.commit) submit(std::move(*output.commit));
  for (auto& read : output.reads) process_->reads.push_back(std::move(read));
  submit_reads();
  const auto life = life_;
  for (auto& action : output.actions) {
    std::visit([this](auto& what) { act(what); }, action);
    if (life != life_) return;
  }
  flush_links();
  if (const auto why = process_->failed ? process_->failed : process_->known_later) {
    return begin_anew(*why);
  }
  if (!leaving_) return;
  // It lingers so that the others hear of it.
  world_.events.after(Millis{300}, [this, life] {
    if (life == life_ && up()) kill();
  });
}

// Looks at each message as it leaves, apart from what the Peer believes.
void Machine::watch(const NodeId& to, BytesView message) {
  wire::Reader in(message);
  const auto kind = kind_of(in);
  if (is_of_jobs(kind)) {
    last_job_mail_ = world_.events.now();
    last_job_kind_ = wire::number(kind);
    if (world_.trace.written()) {
      const auto whom = world_.ledger.machine_of(to);
      world_.trace.detail(world_.events.now(),
                          named() + " -> m" + std::to_string(whom) + ": " + describe(message));
    }
  }
  if (kind == wire::Kind::kJobItem) {
    wire::JobItem item;
    if (!decode(in, item)) return;
    if (world_.plant == Plant::kCountsDeliveries) item.deliveries += limits::kDeliveries;
    world_.ledger.item_sent(plan_.number, to, item);
  } else if (kind == wire::Kind::kJobDoneAck) {
    wire::JobDoneAck ack;
    if (decode(in, ack)) world_.ledger.ack_sent(plan_.number, ack);
  }
}

void Machine::act(Send& action) {
  wire::Reader in(action.message);
  if (world_.plant == Plant::kSwallowsEnds && kind_of(in) == wire::Kind::kJobDone) return;
  if (action.to == id_) {
    watch(action.to, action.message);
    process_->own[index(action.lane)]->append(action.message);
    return wake();
  }
  const auto link = process_->links.find(action.to);
  if (link == process_->links.end()) return;
  watch(action.to, action.message);
  link->second.lanes[index(action.lane)].append(action.message);
}

void Machine::act(SendEndpoint& action) {
  wire::FrameBuilder frame(
      {wire::kProtocolVersion, wire::cluster_hash("default"), id_, incarnation_, {}, 0});
  frame.append(action.message);
  world_.network.send(plan_.number, machine_at(action.endpoint), wire::Lane::kControl,
                      frame.take());
}

void Machine::act(Reach& action) {
  const auto link = process_->links.find(action.node);
  if (link != process_->links.end() && link->second.reach.incarnation == action.incarnation &&
      link->second.reach.control == action.control) {
    return;
  }
  process_->links.erase(action.node);
  const wire::FrameBuilder frames({wire::kProtocolVersion, wire::cluster_hash("default"), id_,
                                   incarnation_, action.node, action.incarnation});
  process_->links.emplace(action.node, Process::Link{action, {frames, frames}});
}

void Machine::act(Unreach& action) { process_->links.erase(action.node); }

void Machine::act(AnswerCall& action) {
  const auto call = process_->calls.find(action.call);
  if (call == process_->calls.end()) {
    return world_.ledger.broken(Check::kAnswers, named() + " answers a call that nobody waits for");
  }
  const auto answered = std::move(call->second);
  process_->calls.erase(call);
  answered(action.answer);
  if (world_.plant == Plant::kAnswersTwice) answered(action.answer);
}

void Machine::act(IncarnationNeeded& action) {
  incarnation_ = std::max(incarnation_, action.above);
  process_->known_later = Error{Code::kStore, "known in a later incarnation"};
}

void Machine::act(Note& action) {
  if (world_.trace.written()) {
    world_.trace.detail(world_.events.now(), named() + " notes: " + action.text);
  }
}

void Machine::flush_links() {
  for (auto& [node, link] : process_->links) {
    for (unsigned lane = 0; lane < 2; ++lane) {
      auto& frames = link.lanes[lane];
      const auto& endpoint = lane == 0 ? link.reach.control : link.reach.data;
      while (!frames.empty()) {
        world_.network.send(plan_.number, machine_at(endpoint), static_cast<wire::Lane>(lane),
                            frames.take());
      }
    }
  }
}

// --- Handlers.

void Machine::act(StartJob& action) {
  const auto consumer = action.consumer;
  process_->consumers[consumer].handed.push_back(std::move(action));
  fill_slots(consumer);
}

// What was handed over runs in order, as slots become free.
void Machine::fill_slots(job::ConsumerNumber number) {
  auto& consumer = process_->consumers[number];
  while (consumer.running < consumer.slots && !consumer.handed.empty()) {
    const StartJob next = std::move(consumer.handed.front());
    consumer.handed.pop_front();
    begin_run(next);
  }
}

void Machine::begin_run(const StartJob& action) {
  Process& process = *process_;
  process.runs[action.run] = {action.consumer, action.job, world_.events.now()};
  ++process.consumers[action.consumer].running;
  if (world_.plant == Plant::kSpoilsPayloads) {
    auto spoilt = *action.job;
    spoilt.payload += '!';
    world_.ledger.run_started(spoilt);
  } else {
    world_.ledger.run_started(*action.job);
  }
  if (world_.plant == Plant::kRunsTwice) world_.ledger.run_started(*action.job);
  const Tag tag = tag_of(action.job->params);
  if (world_.trace.written()) {
    world_.trace.detail(world_.events.now(), named() + " runs job " + std::to_string(tag));
  }
  if (tag == 0 || tag > world_.ledger.jobs().size()) return;
  const auto& tracked = world_.ledger.job(tag);
  if (tracked.plan.hangs && tracked.runs == 1 && !world_.calm) {
    process.runs[action.run].hangs = true;
    return;
  }
  const Nanos time{world_.random.between(1, 2 * tracked.plan.run_time.count())};
  world_.events.after(time, [this, life = life_, run = action.run] {
    if (life == life_ && up()) end_run(run);
  });
}

void Machine::act(StopJob& action) {
  const auto run = process_->runs.find(action.run);
  if (run == process_->runs.end()) return;
  run->second.stopping = true;
  world_.events.after(Millis{world_.random.between(1, 50)}, [this, life = life_, n = action.run] {
    if (life == life_ && up()) end_run(n);
  });
}

void Machine::let_hanging_end() {
  if (!up()) return;
  std::vector<job::RunId> hanging;
  for (const auto& [number, run] : process_->runs) {
    if (run.hangs) hanging.push_back(number);
  }
  for (const auto number : hanging) end_run(number);
}

void Machine::end_run(job::RunId number) {
  const auto at = process_->runs.find(number);
  if (at == process_->runs.end()) return;
  if (paused_) {
    at->second.due = true;
    return;
  }
  const auto run = std::move(at->second);
  process_->runs.erase(at);
  --process_->consumers[run.consumer].running;
  const auto end = end_of(*run.job, run.stopping);
  world_.ledger.run_ended(run.job->token, end.kind);
  const Nanos took = world_.events.now() - run.began;
  input([number, end, took](Peer& peer, const job::Now& now) {
    peer.on_job_ended(now, number, end, took);
  });
  fill_slots(run.consumer);
}

JobEnd Machine::end_of(const job::HeldJob& job, bool stopped) const {
  const auto& plan = world_.ledger.job(tag_of(job.params)).plan;
  JobEnd end;
  if (stopped) {
    end.kind = JobEnd::Kind::kFail;
    end.error = "told to stop";
  } else if (job.attempt <= plan.fails) {
    end.kind = JobEnd::Kind::kFail;
    end.error = "attempt " + std::to_string(job.attempt) + " fails";
    if (plan.tag % 3 == 0) end.retry_after = Millis{200 + plan.tag % 7 * 100};
  } else {
    end.kind = plan.end;
    if (end.kind != JobEnd::Kind::kOk) end.error = "it can never be";
  }
  return end;
}

}  // namespace headrace::sim
