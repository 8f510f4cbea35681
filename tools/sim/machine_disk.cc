// The threads that work on the disk of a simulated machine.
#include "core/store/keys.h"
#include "core/store/record.h"
#include "tools/sim/process.h"

namespace headrace::sim {
namespace {

constexpr std::chrono::seconds kSyncWithin{1};
constexpr Nanos kRead{Micros{80}};

}  // namespace

void Machine::submit(Commit commit) {
  process_->submitted = commit.number;
  if (world_.plant == Plant::kCommitsTooSoon) {
    input([n = commit.number](Peer& peer, const job::Now& at) { peer.on_commit(at, n, n); });
  }
  process_->pending.push_back(std::move(commit));
  begin_commit();
}

// Takes all that waits: one write, and one sync if any of it asks for one.
void Machine::begin_commit() {
  Process& process = *process_;
  if (process.committing || process.pending.empty() || process.failed) return;
  process.committing = true;
  process.under_way = std::move(process.pending);
  process.pending.clear();
  const bool sync = std::any_of(process.under_way.begin(), process.under_way.end(),
                                [](const auto& c) { return c.level == Level::kDisk; });
  const auto most = sync ? world_.disk.sync : world_.disk.write;
  Nanos time{world_.random.between(most.count() / 4, most.count())};
  if (world_.random.chance(world_.disk.stall)) {
    time += Nanos{world_.random.between(0, world_.disk.stalled.count())};
  }
  world_.events.after(time, [this, life = life_] {
    if (life == life_ && up()) finish_commit();
  });
}

void Machine::finish_commit() {
  Process& process = *process_;
  WriteBatch batch;
  bool sync = false;
  for (auto& commit : process.under_way) {
    batch.append(commit.batch);
    sync = sync || commit.level == Level::kDisk;
  }
  const auto number = process.under_way.back().number;
  process.under_way.clear();
  process.committing = false;
  if (world_.random.chance(world_.disk.failure)) store_->fail_next_write();
  const bool forgets = world_.plant == Plant::kLosesWrites && world_.random.chance(0.05);
  if (!forgets) {
    if (auto written = store_->write(batch, sync); !written) {
      // What a failed write leaves is anybody's guess; here all of it is in the file.
      shadow_.write(batch);
      process.failed = written.error();
      return wake();
    }
  }
  world_.trace.mix(number);
  shadow_.write(batch);
  if (sync) shadow_.sync();
  if (world_.plant == Plant::kRewritesOutcomes) rewrite_outcome();
  process.written = number;
  if (sync) process.synced = number;
  if (process.synced < number && !process.sync_waits) {
    process.sync_waits = true;
    world_.events.after(kSyncWithin, [this, life = life_] {
      if (life == life_ && up()) sync_late();
    });
  }
  input([this, number, synced = process.synced](Peer& peer, const job::Now& at) {
    peer.on_commit(at, number, synced);
    submit_reads();
  });
  begin_commit();
}

void Machine::rewrite_outcome() {
  for (const auto& [number, row] : shadow_.written().jobs) {
    if (row.state != JobState::kSucceeded) continue;
    auto job = job::decode_job(number, row.body).value();
    job.state = JobState::kGivenUp;
    Bytes body;
    encode(body, job);
    WriteBatch batch;
    record::put(batch, keys::job(number), job::kRecordVersion, body);
    return shadow_.write(batch);
  }
}

// What was only written is synced within a second, with or without further commits.
void Machine::sync_late() {
  Process& process = *process_;
  process.sync_waits = false;
  if (process.failed || process.synced == process.written) return;
  if (!store_->write({}, true)) return;
  shadow_.sync();
  process.synced = process.written;
  input([number = process.synced](Peer& peer, const job::Now& at) {
    peer.on_commit(at, number, number);
  });
}

void Machine::submit_reads() {
  Process& process = *process_;
  std::vector<job::ReadTask> tasks;
  while (!process.reads.empty() && process.reads.front().after <= process.written) {
    tasks.push_back(std::move(process.reads.front().task));
    process.reads.erase(process.reads.begin());
  }
  if (tasks.empty()) return;
  const Nanos time = kRead + Nanos{world_.random.between(0, kRead.count())};
  world_.events.after(time, [this, life = life_, tasks = std::move(tasks)] {
    if (life != life_ || !up() || process_->failed) return;
    const auto snapshot = store_->snapshot();
    for (const auto& task : tasks) {
      input([continuation = task(**snapshot)](Peer& peer, const job::Now& at) {
        peer.on_read(at, continuation);
      });
    }
  });
}

// The process ends. Of a commit under way the log may hold all or nothing.
void Machine::tear(bool power) {
  Process& process = *process_;
  if (!store_ || !process.committing || process.failed) return;
  if (world_.random.chance(0.5)) return;
  WriteBatch batch;
  for (const auto& commit : process.under_way) batch.append(commit.batch);
  const auto written = store_->write(batch, false);
  if (written && !power) shadow_.write(batch);
}

// The process begins a new life without ending: whoever waits hears that nobody knows. What a
// failed write left is unknown, so that is taken as a power cut.
void Machine::begin_anew(const Error& why) {
  world_.trace.line(world_.events.now(), named() + " opens anew: " + why.message);
  const bool power = process_->failed.has_value();
  auto answers = process_->peer->abandon(why);
  for (auto& answer : answers) act(answer);
  end_process(power);
  reopened_ = true;
  start();
}

}  // namespace headrace::sim
