#include "core/job/job_intake.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/wire/kinds.h"

namespace headrace::job {
namespace {

// A lost completion is rare and its list entry keeps the lease meanwhile: repeats need not be eager.
constexpr Millis kFirstRepeat{500};
constexpr Millis kLastRepeat{5000};
constexpr std::size_t kControlResult = 4096;  // larger results travel on the data lane
// A slot is handed what it will run in that time, so that tiny jobs do not cost a turn each. What was handed over
// counts as started, until not_started() says otherwise.
constexpr Millis kAhead{1};
// Periods for which a stopped consumer that holds nothing still tells owners so. They may have forgotten it, and never
// answer; what arrives later is handed back.
constexpr unsigned kFarewell = 50;

// A handler may have kept the job (RunningJob::hold), so its contents are left to it.
std::shared_ptr<HeldJob> without_contents(const HeldJob& job) {
  auto rest = std::make_shared<HeldJob>();
  rest->from = job.from;
  rest->life = job.life;
  rest->item = job.item;
  rest->token = job.token;
  rest->number = job.number;
  rest->id = job.id;
  rest->attempt = job.attempt;
  rest->deliveries = job.deliveries;
  return rest;
}

}  // namespace

ConsumerNumber JobIntake::add_consumer(ConsumerConfig config) {
  const auto number = ++last_number_;
  const AutoMarks automatic(config.parallel);
  const Marks marks = config.marks.value_or(automatic.marks());
  consumers_.emplace(number, Consumer{std::move(config), WindowReceiver(self_, marks), automatic, {}, 0, false});
  return number;
}

void JobIntake::stop_consumer(ConsumerNumber number) {
  const auto at = consumers_.find(number);
  if (at == consumers_.end() || at->second.stopped) return;
  Consumer& consumer = at->second;
  consumer.stopped = true;
  consumer.window.stop();
  std::vector<std::shared_ptr<HeldJob>> back;
  for (auto& job : consumer.waiting) {
    consumer.window.hand_back(job->from, job->item);
    back.push_back(std::move(job));
  }
  consumer.waiting.clear();
  hand_back(back);
}

void JobIntake::stop_all() {
  for (auto& [number, consumer] : consumers_) stop_consumer(number);
}

void JobIntake::not_started(const std::vector<RunId>& runs) {
  std::vector<std::shared_ptr<HeldJob>> back;
  for (const auto run : runs) {
    const auto at = running_.find(run);
    HEADRACE_CHECK(at != running_.end());
    Running running = std::move(at->second);
    running_.erase(at);
    Consumer& consumer = consumers_.at(running.consumer);
    --consumer.running;
    consumer.window.hand_back(running.job->from, running.job->item);
    if (!running.refused) back.push_back(std::move(running.job));
  }
  hand_back(back);
}

// In the order of their start: a hash map's order is no order to act in.
template <typename Fits>
std::vector<RunId> JobIntake::runs_that(Fits&& fits) const {
  std::vector<RunId> runs;
  for (const auto& [run, running] : running_) {
    if (fits(running)) runs.push_back(run);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

void JobIntake::give_up_runs() {
  std::vector<std::shared_ptr<HeldJob>> back;
  for (const auto run : runs_that([](const Running& running) { return !running.refused; })) {
    const Running& running = running_.at(run);
    consumers_.at(running.consumer).window.hand_back(running.job->from, running.job->item);
    back.push_back(running.job);
    refuse(run);
  }
  hand_back(back);
}

std::vector<ConsumerAdvert> JobIntake::adverts() const {
  std::vector<ConsumerAdvert> adverts;
  for (const auto& [number, consumer] : consumers_) {
    if (!consumer.stopped) adverts.push_back({number, consumer.config.topics.text(), consumer.config.parallel});
  }
  return adverts;
}

JobIntake::Owner& JobIntake::hear(const Now& now, const NodeId& from, Incarnation life) {
  Owner& owner = owners_[from];
  owner.heard = now.mono;
  if (owner.life < life) {
    if (owner.life != 0) on_incarnation(from, life);
    owner.life = life;
  }
  return owner;
}

void JobIntake::on_item(const Now& now, const NodeId& from, Incarnation life, const wire::JobItem& item,
                        Bytes payload) {
  hear(now, from, life);
  const auto at = consumers_.find(item.window.consumer);
  if (at == consumers_.end()) {  // of a handler that is gone
    wire::JobHandBack back;
    back.jobs.push_back({item.job_number, item.token});
    Bytes message;
    encode(message, back);
    return host_.send(from, wire::Lane::kControl, std::move(message));
  }
  Consumer& consumer = at->second;
  const SenderKey sender{from, item.window.queue};
  if (consumer.window.on_item(sender, life, item.head) != Arrival::kTaken) return;
  auto job = std::make_shared<HeldJob>();
  job->from = sender;
  job->life = life;
  job->item = item.head.id();
  job->token = item.token;
  job->number = item.job_number;
  job->id = item.id;
  job->topic = item.topic;
  job->attempt = item.attempt;
  job->deliveries = item.deliveries;
  job->params = item.params;
  job->payload = std::move(payload);
  consumer.waiting.push_back(std::move(job));
}

void JobIntake::on_mark(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
                        const wire::Mark& mark) {
  hear(now, from, life);
  const auto at = consumers_.find(window.consumer);
  if (at != consumers_.end()) at->second.window.on_mark({from, window.queue}, life, mark);
}

void JobIntake::on_announce(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
                            const wire::Announce& announce) {
  hear(now, from, life);
  const auto at = consumers_.find(window.consumer);
  if (at != consumers_.end()) at->second.window.on_announce({from, window.queue}, life, announce);
}

// The owner gave them to others while this node was away: what has not started must not, what runs is told to stop.
void JobIntake::on_over(const Now& now, const NodeId& from, Incarnation life,
                        const wire::WindowId& window, const wire::WindowOver& over) {
  hear(now, from, life);
  const auto at = consumers_.find(window.consumer);
  if (at == consumers_.end() || over.receiver != self_) return;
  Consumer& consumer = at->second;
  const SenderKey sender{from, window.queue};
  const auto meant = [&](const HeldJob& job) {
    return job.from == sender && job.life == life && wire::lists(over.items, job.item);
  };
  std::erase_if(consumer.waiting, [&](const auto& job) {
    return meant(*job) && consumer.window.on_over(sender, job->item);
  });
  const auto runs = runs_that([&](const Running& running) {
    return running.consumer == window.consumer && !running.refused && meant(*running.job);
  });
  for (const auto run : runs) {
    if (consumer.window.on_over(sender, running_.at(run).job->item)) refuse(run);
  }
}

// Its end is told to nobody.
void JobIntake::refuse(RunId run) {
  Running& running = running_.at(run);
  running.refused = true;
  if (!std::exchange(running.stopping, true)) host_.set_stopping(run);
}

void JobIntake::on_done_ack(const Now& now, const NodeId& from, Incarnation life, const wire::JobDoneAck& ack) {
  hear(now, from, life);
  for (const auto number : ack.accepted) answered(now, {ack.life, number}, true);
  for (const auto number : ack.refused) answered(now, {ack.life, number}, false);
}

void JobIntake::answered(const Now&, const wire::Token& token, bool) {
  const auto at = completions_.find(token);
  if (at == completions_.end()) return;
  const Completion& completion = at->second;
  const auto consumer = consumers_.find(completion.consumer);
  if (consumer != consumers_.end()) {
    consumer->second.window.on_acknowledged(completion.job->from, completion.job->life, completion.job->item);
  }
  completions_.erase(at);
}

void JobIntake::on_claims_ack(const Now& now, const NodeId& from, Incarnation life,
                              const wire::JobClaimsAck& ack) {
  Owner& owner = hear(now, from, life);
  std::unordered_set<wire::Token, TokenHash> refused;
  for (const auto& claim : ack.refused) {
    answered(now, claim.token, false);
    refused.insert(claim.token);
  }
  for (const auto run : runs_that([&](const Running& running) {
         return !running.refused && refused.contains(running.job->token);
       })) {
    refuse(run);
  }
  const auto old = [&](const HeldJob& job) { return job.from.node == from && job.life < owner.life; };
  const bool more =
      std::any_of(running_.begin(), running_.end(),
                  [&](const auto& entry) { return old(*entry.second.job) && !entry.second.refused; }) ||
      std::any_of(completions_.begin(), completions_.end(), [&](const auto& entry) { return old(*entry.second.job); });
  owner.claims_due = more;  // the list renews the leases, so it goes on while there is one
}

void JobIntake::ended(const Now& now, RunId run, JobEnd end, Nanos took) {
  const auto at = running_.find(run);
  HEADRACE_CHECK(at != running_.end());
  Running running = std::move(at->second);
  running_.erase(at);
  const auto consumer = consumers_.find(running.consumer);
  HEADRACE_CHECK(consumer != consumers_.end());
  --consumer->second.running;
  consumer->second.automatic.on_run(took);
  consumer->second.window.on_ended(running.job->from, running.job->item);
  if (running.refused) return;

  end.error.resize(std::min(end.error.size(), limits::kErrorBytes));
  if (end.retry_after) end.retry_after = std::clamp(*end.retry_after, Millis{0}, Millis{UINT32_MAX});
  if (end.result.size() > limits::kResultBytes) {
    end = JobEnd{JobEnd::Kind::kCancel, {}, "its result has " + std::to_string(end.result.size()) +
                 " bytes; at most " + std::to_string(limits::kResultBytes) + " are kept", {}};
  }
  wire::JobDone done{running.job->token, running.job->number, static_cast<std::uint8_t>(end.kind), end.result,
                     end.error, end.retry_after};
  Completion completion{running.consumer, without_contents(*running.job), {}, wire::Lane::kControl,
                        now.mono + kFirstRepeat, kFirstRepeat};
  encode(completion.message, done);
  if (completion.message.size() > kControlResult) completion.lane = wire::Lane::kData;
  host_.send(running.job->from.node, completion.lane, completion.message);
  next_repeat_ = std::min(next_repeat_, completion.repeat);
  completions_.emplace(running.job->token, std::move(completion));
}

void JobIntake::on_dead(const NodeId& node) {
  for (auto& [number, consumer] : consumers_) consumer.window.on_dead(node);
}

void JobIntake::on_incarnation(const NodeId& node, Incarnation life) {
  for (auto& [number, consumer] : consumers_) consumer.window.on_incarnation(node, life);
  const auto at = owners_.find(node);
  if (at == owners_.end() || at->second.life >= life) return;  // nothing came from an earlier life
  Owner& owner = at->second;
  // Also with nothing to claim: the empty list is what tells the owner that nothing of it runs here.
  owner.claims_due = true;
  owner.claims_at = MonoTime::min();
  owner.life = life;
}

void JobIntake::forget(const NodeId& node) {
  for (auto& [number, consumer] : consumers_) consumer.window.forget(node);
  std::erase_if(completions_, [&](const auto& entry) { return entry.second.job->from.node == node; });
  // Nobody is left to be told how they end.
  const auto of_node = [&](const Running& running) { return running.job->from.node == node; };
  for (const auto run : runs_that(of_node)) refuse(run);
  owners_.erase(node);
}

void JobIntake::end_turn(const Now& now) {
  for (auto& [number, consumer] : consumers_) {
    collect(now, number, consumer);
    start_waiting(number, consumer);
  }
  for (auto& [node, owner] : owners_) {
    if (owner.claims_due && owner.claims_at <= now.mono) send_claims(now, node, owner);
  }
}

void JobIntake::collect(const Now& now, ConsumerNumber number, Consumer& consumer) {
  if (!consumer.config.marks && !consumer.stopped && consumer.automatic.update()) {
    consumer.window.set_marks(consumer.automatic.marks());
  }
  std::vector<WindowReceiver::Outgoing> states;
  std::vector<WindowReceiver::Dropped> dropped;
  consumer.window.collect(states, dropped);
  for (const auto& drop : dropped) {
    std::erase_if(consumer.waiting, [&](const auto& job) { return job->item == drop.item && job->from == drop.from; });
  }
  for (const auto& outgoing : states) {
    Bytes message;
    wire::Writer out(message);
    out.array(3).u64(wire::number(wire::Kind::kWindowState));
    encode(out, wire::WindowId{number, outgoing.to.queue});
    encode(out, outgoing.state);
    host_.send(outgoing.to.node, wire::Lane::kControl, std::move(message));
  }
  if (consumer.window.period_needed()) next_period_ = std::min(next_period_, now.mono + kWindowPeriod);
}

void JobIntake::start_waiting(ConsumerNumber number, Consumer& consumer) {
  const auto places = consumer.config.parallel + consumer.automatic.starts_within(kAhead);
  while (consumer.running < places && !consumer.waiting.empty()) {
    auto job = std::move(consumer.waiting.front());
    consumer.waiting.pop_front();
    ++consumer.running;
    consumer.window.on_started(job->from, job->item);
    const RunId run = ++last_run_;
    running_.emplace(run, Running{number, job, false, false});
    host_.start(number, run, std::move(job));
  }
}

void JobIntake::hand_back(const std::vector<std::shared_ptr<HeldJob>>& jobs) {
  std::map<NodeId, wire::JobHandBack> by_owner;
  for (const auto& job : jobs) by_owner[job->from.node].jobs.push_back({job->number, job->token});
  for (const auto& [node, back] : by_owner) {
    Bytes message;
    encode(message, back);
    host_.send(node, wire::Lane::kControl, std::move(message));
  }
}

void JobIntake::send_claims(const Now& now, const NodeId& to, Owner& owner) {
  std::vector<wire::JobClaim> claims;
  const auto claim = [&](const HeldJob& job) {
    if (job.from.node == to && job.life < owner.life) claims.push_back({job.number, job.token});
  };
  for (const auto& [run, running] : running_) {
    if (!running.refused) claim(*running.job);
  }
  for (const auto& [token, completion] : completions_) claim(*completion.job);
  for (const auto& part : wire::in_messages(std::move(claims))) {
    Bytes message;
    encode(message, part);
    host_.send(to, wire::Lane::kControl, std::move(message));
  }
  owner.claims_at = now.mono + 10 * kWindowPeriod;
  next_repeat_ = std::min(next_repeat_, owner.claims_at);
}

void JobIntake::tick(const Now& now) {
  if (next_period_ <= now.mono) {
    next_period_ = kNever;
    for (auto& [number, consumer] : consumers_) {
      if (!consumer.window.period_needed()) continue;
      consumer.window.on_period();
    }
    for (auto at = consumers_.begin(); at != consumers_.end();) {
      Consumer& consumer = at->second;
      const bool quiet = consumer.stopped && consumer.running == 0 && consumer.window.idle();
      consumer.quiet = quiet ? consumer.quiet + 1 : 0;
      at = consumer.quiet > kFarewell ? consumers_.erase(at) : std::next(at);
    }
    watch_leases(now);
  }
  if (next_repeat_ <= now.mono) repeat_completions(now);
}

void JobIntake::repeat_completions(const Now& now) {
  next_repeat_ = kNever;
  std::vector<Completion*> due;
  for (auto& [token, completion] : completions_) {
    if (completion.repeat <= now.mono) due.push_back(&completion);
    else next_repeat_ = std::min(next_repeat_, completion.repeat);
  }
  std::sort(due.begin(), due.end(), [](auto* a, auto* b) { return a->job->token < b->job->token; });
  for (Completion* completion : due) {
    completion->pause = std::min<Nanos>(completion->pause * 2, kLastRepeat);
    completion->repeat = now.mono + completion->pause;
    next_repeat_ = std::min(next_repeat_, completion->repeat);
    host_.send(completion->job->from.node, completion->lane, completion->message);
  }
  for (const auto& [node, owner] : owners_) {
    if (owner.claims_due) next_repeat_ = std::min(next_repeat_, std::max(owner.claims_at, now.mono));
  }
}

// An owner that has not been heard for most of a lease may have given the job to another.
void JobIntake::watch_leases(const Now& now) {
  const auto doubtful = [&](const Running& running) {
    if (running.stopping) return false;
    const auto owner = owners_.find(running.job->from.node);
    return owner == owners_.end() || now.mono - owner->second.heard >= kLease * 8 / 10;
  };
  for (const auto run : runs_that(doubtful)) {
    running_.at(run).stopping = true;
    host_.set_stopping(run);
  }
}

void JobIntake::held_up(Nanos duration) {
  for (auto& [node, owner] : owners_) owner.heard += duration;
}

MonoTime JobIntake::next_timer() const { return std::min(next_period_, next_repeat_); }

}  // namespace headrace::job
