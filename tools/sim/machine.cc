#include "tools/sim/machine.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/store/meta.h"
#include "tools/sim/process.h"

namespace headrace::sim {
namespace {

constexpr WallTime kEpoch{std::chrono::seconds{1'790'000'000}};
constexpr Nanos kTurn{Micros{5}};
constexpr unsigned kSpins = 2000;  // turns without input within a millisecond

std::vector<std::string> remembered_peers(const Snapshot& store) {
  const auto bytes = meta::peers(store).value_or(Bytes{});
  std::vector<std::string> endpoints;
  if (bytes.empty()) return endpoints;
  wire::Reader in(bytes);
  for (auto left = in.array(limits::kSeeds); left > 0 && in.ok(); --left) {
    endpoints.emplace_back(in.text(limits::kEndpointBytes));
  }
  return endpoints;
}

}  // namespace

std::string control_endpoint(MachineNumber machine) { return "c:" + std::to_string(machine); }
std::string data_endpoint(MachineNumber machine) { return "d:" + std::to_string(machine); }
MachineNumber machine_at(const std::string& endpoint) {
  return static_cast<MachineNumber>(std::stoul(endpoint.substr(2)));
}

Machine::Machine(Surroundings world, MachinePlan plan)
    : world_(world),
      plan_(std::move(plan)),
      id_(NodeId::from_halves(0x5EED'0000'0000'0000ULL + 7919 * (plan_.number + 1),
                              world.random.next())),
      shadow_([this](const Shadow::Row* before, std::uint64_t, const Shadow::Row& row) {
        world_.ledger.row_put(plan_.number, before, row);
      }) {
  if (plan_.has_store) store_ = std::make_unique<MemoryStore>();
  world_.ledger.add_machine(&shadow_, id_);
}

Machine::~Machine() = default;

const Peer* Machine::peer() const { return process_ ? process_->peer.get() : nullptr; }

std::string Machine::named() const { return "m" + std::to_string(plan_.number); }

job::Now Machine::now() const {
  const auto mono = world_.events.now();
  const auto since = std::chrono::duration_cast<Micros>(mono.time_since_epoch());
  return {mono, kEpoch + since + plan_.clock_offset};
}

// --- The process.

Incarnation Machine::next_incarnation() {
  Incarnation last = incarnation_;
  if (store_) last = std::max(last, meta::last_incarnation(*store_->snapshot().value()).value());
  const auto next = meta::next_incarnation(last, now().wall);
  if (store_) {
    WriteBatch batch;
    meta::set_last_incarnation(batch, next);
    HEADRACE_CHECK(store_->write(batch, true));
  }
  return next;
}

void Machine::start() {
  HEADRACE_CHECK(!up());
  ++life_;
  paused_ = leaving_ = false;
  incarnation_ = next_incarnation();
  process_ = std::make_unique<Process>();
  world_.trace.line(world_.events.now(), named() + " starts as " + std::to_string(incarnation_));
  PeerConfig config;
  config.id = id_;
  config.incarnation = incarnation_;
  config.seed = world_.random.next();
  config.name = named();
  config.control_endpoint = control_endpoint(plan_.number);
  config.data_endpoint = data_endpoint(plan_.number);
  config.seeds = plan_.seeds;
  config.owner = plan_.owner;
  config.has_store = store_ != nullptr;
  config.reopened = reopened_;
  std::unique_ptr<Snapshot> snapshot;
  if (store_) {
    snapshot = std::move(*store_->snapshot());
    config.remembered = remembered_peers(*snapshot);
  }
  const wire::FrameHead to_self{wire::kProtocolVersion,
                                wire::cluster_hash(config.cluster),
                                id_,
                                incarnation_,
                                id_,
                                incarnation_};
  for (auto& mail : process_->own) mail = std::make_unique<wire::FrameBuilder>(to_self);
  process_->peer = std::make_unique<Peer>(std::move(config), process_->events);
  const auto opened = process_->peer->open(now(), snapshot.get());
  HEADRACE_CHECK(opened.has_value());
  snapshot.reset();
  reopened_ = false;
  if (consumes_) {
    for (const auto& consumer : plan_.consumers) {
      const auto number = process_->peer->add_consumer(
          now(), {TopicPattern::parse(consumer.topics).value(), consumer.parallel, consumer.marks});
      process_->consumers[number].slots = consumer.parallel;
    }
  }
  wake();
}

void Machine::end_process(bool power) {
  if (!up()) return;
  world_.trace.line(world_.events.now(), named() + (power ? " loses power" : " is killed"));
  world_.ledger.process_ended(plan_.number, power);
  tear(power);
  ++life_;
  process_.reset();
  paused_ = false;
  if (!store_) return;
  if (power) {
    store_->crash(world_.random);
    shadow_.rebuild(*store_->snapshot().value());
  } else {
    store_->reopen();
  }
  world_.ledger.reopened(plan_.number);
}

void Machine::kill() { end_process(false); }
void Machine::lose_power() { end_process(true); }

void Machine::pause() {
  if (!up() || paused_) return;
  world_.trace.line(world_.events.now(), named() + " stands still");
  world_.ledger.out_of_touch(plan_.number);
  paused_ = true;
  process_->paused_at = world_.events.now();
}

void Machine::resume(bool told) {
  if (!paused_) return;
  world_.trace.line(world_.events.now(), named() + " goes on");
  world_.ledger.out_of_touch(plan_.number);
  paused_ = false;
  if (told) process_->held_up += world_.events.now() - process_->paused_at;
  std::vector<job::RunId> due;
  for (const auto& [number, run] : process_->runs) {
    if (run.due) due.push_back(number);
  }
  for (const auto number : due) end_run(number);
  wake();
}

void Machine::stop_consuming() {
  if (!up()) return;
  world_.trace.line(world_.events.now(), named() + " stops consuming");
  consumes_ = false;
  input([](Peer& peer, const job::Now& at) { peer.stop_consuming(at); });
}

void Machine::leave() {
  if (!up()) return;
  world_.trace.line(world_.events.now(), named() + " leaves");
  input([this](Peer& peer, const job::Now& at) {
    peer.leave(at);
    leaving_ = true;
  });
}

// --- The loop.

void Machine::receive(wire::Lane lane, const std::shared_ptr<const Bytes>& frame) {
  if (!up()) return;
  world_.trace.mix(plan_.number);
  world_.trace.mix(*frame);
  if (world_.plant == Plant::kGarblesFrames && world_.random.chance(0.02)) {
    const auto cut = std::make_shared<const Bytes>(frame->substr(0, frame->size() - 1));
    return input(
        [lane, cut](Peer& peer, const job::Now& at) { peer.on_frame(at, lane, {}, *cut, cut); });
  }
  input([lane, frame](Peer& peer, const job::Now& at) {
    peer.on_frame(at, lane, {}, *frame, frame);
  });
}

void Machine::refused(const NodeId& node) {
  if (!up()) return;
  input([node](Peer& peer, const job::Now& at) { peer.on_refused(at, node); });
}

void Machine::input(Input what) {
  process_->inputs.push_back(std::move(what));
  wake();
}

void Machine::input_soon(Nanos delay, Input what) {
  world_.events.after(delay, [this, life = life_, what = std::move(what)]() mutable {
    if (life == life_ && up()) input(std::move(what));
  });
}

void Machine::wake() {
  if (paused_ || process_->turn_due) return;
  process_->turn_due = true;
  world_.events.after(kTurn, [this, life = life_] {
    if (life != life_ || !up()) return;
    process_->turn_due = false;
    if (!paused_) turn();
  });
}

void Machine::turn() {
  ++turns_;
  Process& process = *process_;
  Peer& peer = *process.peer;
  const auto at = now();
  if (process.held_up > Nanos{0}) peer.held_up(at, std::exchange(process.held_up, Nanos{0}));
  std::vector<std::shared_ptr<const Bytes>> own[2];
  for (unsigned lane = 0; lane < 2; ++lane) {
    while (!process.own[lane]->empty()) {
      own[lane].push_back(std::make_shared<const Bytes>(process.own[lane]->take()));
    }
    for (const auto& frame : own[lane]) {
      peer.on_frame(at, static_cast<wire::Lane>(lane), {}, *frame, frame);
    }
  }
  auto inputs = std::move(process.inputs);
  process.inputs.clear();
  for (auto& what : inputs) what(peer, at);
  watch_for_spin(!inputs.empty() || !own[0].empty() || !own[1].empty());
  if (at.mono >= peer.next_timer(at)) peer.tick(at);
  if (world_.plant == Plant::kTalksAtRest) last_job_mail_ = at.mono;
  const auto life = life_;
  carry_out(peer.end_turn(at));
  if (life != life_ || !up()) return;
  check_marks();
  set_timer();
}

void Machine::watch_for_spin(bool had_input) {
  Process& process = *process_;
  if (had_input || world_.events.now() - process.idle_since > Millis{1}) {
    process.idle_turns = 0;
    process.idle_since = world_.events.now();
  } else if (++process.idle_turns == kSpins) {
    world_.ledger.broken(Check::kProtocol, named() + " goes round and round without input");
  }
}

void Machine::set_timer() {
  const auto next = process_->peer->next_timer(now());
  if (next == kNever) return;
  const auto number = ++process_->timer;
  world_.events.at(next, [this, life = life_, number] {
    if (life == life_ && up() && process_->timer == number) wake();
  });
}

void Machine::check_marks() {
  const auto& intake = process_->peer->intake();
  if (!consumes_) return;  // stopped: it may have let go of its consumers
  for (auto& [number, consumer] : process_->consumers) {
    const auto occupancy = intake.occupancy(number);
    auto high = intake.marks(number).high;
    if (world_.plant == Plant::kHalvesMarks) high /= 2;
    // A mark may be lowered at the end of a turn that filled the window under the one before.
    world_.ledger.holds(plan_.number, occupancy, consumer.occupancy, std::max(high, consumer.high));
    consumer.high = high;
    consumer.occupancy = occupancy;
  }
}

bool Machine::idle() const {
  if (!up()) return true;
  const auto& process = *process_;
  const auto* owner = process.peer->owner();
  if (owner != nullptr && (owner->counts().active > 0 || owner->counts().ready_in_memory > 0)) {
    return false;
  }
  return process.peer->idle() && process.runs.empty() && process.calls.empty() &&
         process.pending.empty() && !process.committing;
}

// --- Calls.

void Machine::add(const std::vector<Tag>& tags, Nanos patience, bool look_up, Answered answered) {
  HEADRACE_CHECK(up());
  const auto call = ++last_call_;
  process_->calls.emplace(call, std::move(answered));
  for (const auto tag : tags) world_.ledger.asked(tag, plan_.number);
  input([this, call, tags, patience, look_up](Peer& peer, const job::Now& at) {
    std::vector<job::NewJob> jobs;
    for (const auto tag : tags) jobs.push_back(new_job(world_.ledger.job(tag).plan, at.wall));
    const auto deadline = patience == Nanos::max() ? kNever : at.mono + patience;
    peer.add_jobs(at, call, std::move(jobs), deadline, look_up);
  });
}

void Machine::get(const JobId& id, Answered answered) {
  const auto call = ++last_call_;
  process_->calls.emplace(call, std::move(answered));
  input([call, id](Peer& peer, const job::Now& at) {
    peer.get_job(at, call, id, at.mono + std::chrono::seconds{30});
  });
}

void Machine::wait(const JobId& id, Nanos patience, Answered answered) {
  const auto call = ++last_call_;
  process_->calls.emplace(call, std::move(answered));
  input([call, id, patience](Peer& peer, const job::Now& at) {
    peer.wait_job(at, call, id, at.mono + patience);
  });
}

}  // namespace headrace::sim
