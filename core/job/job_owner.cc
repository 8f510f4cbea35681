#include "core/job/job_owner.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

constexpr std::chrono::minutes kForeignKept{10};
constexpr std::size_t kForeignMost = 10'000'000;
constexpr std::size_t kPurgeJobs = 2000;       // a turn, so that no turn grows long
constexpr std::size_t kWakeJobs = 2000;
constexpr Millis kPurgePause{1000};

Result<std::uint64_t> read_number(const Snapshot& snapshot, BytesView key, std::uint64_t missing) {
  auto sealed = snapshot.get(key);
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return missing;
  const auto opened = record::open(**sealed);
  if (!opened) return fail(opened.error());
  wire::Reader in(opened->body);
  const auto number = in.u64();
  if (!in.ok()) return fail(Code::kStore, "a counter of the store is damaged");
  return number;
}

}  // namespace

Result<void> JobOwner::open(const Now& now, const Snapshot& snapshot) {
  if (auto loaded = topics_.load(snapshot); !loaded) return loaded;
  const auto next = read_number(snapshot, keys::meta("job-numbers"), 1);
  if (!next) return fail(next.error());
  const auto ready = read_number(snapshot, keys::meta("ready-numbers"), 1);
  if (!ready) return fail(ready.error());
  first_number_ = next_number_ = reserved_number_ = *next;
  reserved_ready_ = *ready;
  ready_ = ReadyQueue(*ready);
  reserve_numbers();

  const auto cursor = snapshot.cursor();
  for (cursor->seek(keys::space(keys::Space::kHistory)); cursor->valid(); cursor->next()) {
    if (!keys::in_space(cursor->key(), keys::Space::kHistory)) break;
    if (const auto opened = record::open(cursor->value())) history_.found(cursor->key(), opened->body);
  }
  // One seek finds each lane that has rows: the backlog itself stays on disk.
  for (cursor->seek(keys::space(keys::Space::kReady)); cursor->valid();) {
    const auto row = keys::parse_ready(cursor->key());
    if (!row) break;
    ready_.found_on_disk(row->topic, row->priority);
    cursor->seek(keys::ready({row->queue, row->topic, row->priority, UINT64_MAX}));
  }
  delayed_.found_on_disk();
  const auto rows = read_delayed(snapshot, {}, DelayedSet::kInMemory / 2);
  delayed_.refilled(rows.entries, rows.end);
  if (auto status = cursor->status(); !status) return status;

  std::vector<std::uint64_t> ours;
  for (cursor->seek(keys::space(keys::Space::kActive)); cursor->valid(); cursor->next()) {
    const auto number = keys::parse_active(cursor->key());
    if (!number) break;
    auto found = read_job(snapshot, *number);
    if (!found) {  // one that cannot be read must not stop the others
      host_.note(found.error().message);
      continue;
    }
    if (!*found || !(*found)->dispatch) continue;
    Active active;
    active.job = std::make_unique<Job>(std::move((*found)->job));
    active.dispatch = *(*found)->dispatch;
    active.recovered = true;
    active.lease = now.mono + kLease;
    if (active.dispatch.consumer == config_.self) ours.push_back(*number);  // it ended with us
    recovered_[active.dispatch.consumer].insert(*number);
    active_.emplace(*number, std::move(active));
  }
  take_back(now, ours, Charge::kDelivery);
  check_leases(now);
  return cursor->status();
}

void JobOwner::end_turn(const Now& now) {
  if (work_changed_) {
    dispatch_all(now);
    for (Job* job : unwritten_) {
      if (!job->unwritten) continue;  // dispatched, or written on its way
      write_rows(*job);
      if (job->payload_apart()) job->payload = {};
      Bytes body;
      wire::Writer(body).u64(job->number);
      record::put(host_.batch(job->level), keys::ready({job->queue, job->topic, job->priority, job->ready}),
                  kRecordVersion, body);
    }
    unwritten_.clear();
    set_wants();
    refill();
    work_changed_ = false;
  }
  flush_windows();
  drop_retired();
  flush_answers();
  if (history_.pending()) history_.flush(host_.batch(Level::kOs), now.wall);
  // At full speed what falls out of history is erased as fast as it comes in. Memory remembers ids longer.
  if (history_.purge_due(now.wall)) history_.purge(host_.batch(Level::kOs), now.wall, kPurgeJobs);
  const bool period = std::any_of(consumers_.begin(), consumers_.end(),
                                  [](const auto& entry) { return entry.second.window.period_needed(); });
  if (period) next_period_ = std::min(next_period_, now.mono + kWindowPeriod);
}

void JobOwner::tick(const Now& now) {
  if (next_period_ <= now.mono) {
    next_period_ = kNever;
    for (auto& [key, consumer] : consumers_) consumer.window.on_period();
    check_leases(now);
  }
  if (next_lease_ <= now.mono) check_leases(now);
  wake_delayed(now);
  if (next_purge_ <= now.mono) {
    next_purge_ = now.mono + kPurgePause;
    while (!foreign_old_.empty() &&
           (foreign_old_.front().first + kForeignKept <= now.mono || foreign_old_.size() > kForeignMost)) {
      foreign_.erase(foreign_old_.front().second);
      foreign_old_.pop_front();
    }
  }
}

void JobOwner::wake_delayed(const Now& now) {
  JobPtr unstored;
  for (std::size_t i = 0; i < kWakeJobs; ++i) {
    const auto entry = delayed_.pop_due(now.wall, unstored);
    if (!entry) break;
    work_changed_ = true;
    if (unstored) {
      unstored->due.reset();
      unstored->ready = ready_.take_number();
      ready_.push(std::move(unstored));
      continue;
    }
    reserve_numbers();
    const auto ready = ready_.take_number();
    WriteBatch& batch = host_.batch(Level::kDisk);
    batch.erase(keys::delayed({entry->due, entry->job}));
    Bytes body;
    wire::Writer(body).u64(entry->job);
    record::put(batch, keys::ready({1, entry->topic, entry->priority, ready}), kRecordVersion, body);
    ready_.pushed_on_disk(entry->topic, entry->priority, ready);
  }
  if (const auto from = delayed_.next_refill()) {
    host_.read([this, from = *from](const Snapshot& snapshot) -> Continuation {
      auto rows = std::make_shared<DelayedRows>(read_delayed(snapshot, from, DelayedSet::kInMemory / 2));
      return [this, rows](const Now&) { delayed_.refilled(rows->entries, rows->end); };
    });
  }
}

MonoTime JobOwner::next_timer(const Now& now) const {
  auto next = std::min(next_period_, next_lease_);
  if (const auto due = delayed_.next()) next = std::min(next, now.mono + std::max(Micros{0}, *due - now.wall));
  if (!foreign_old_.empty()) next = std::min(next, std::max(next_purge_, foreign_old_.front().first + kForeignKept));
  return next;
}

std::optional<JobInfo> JobOwner::info_in_memory(const Now& now, const JobId& id) const {
  const auto number = number_of(id);
  if (!number) return {};
  const auto ended = unstored_ended_.find(*number);
  if (ended != unstored_ended_.end()) {
    return to_info(*ended->second, nullptr, topics_.text(ended->second->topic), config_.self, now.wall);
  }
  const auto at = unstored_.find(*number);
  if (at == unstored_.end()) return {};
  const auto active = active_.find(*number);
  return to_info(*at->second, active == active_.end() ? nullptr : &active->second.dispatch,
                 topics_.text(at->second->topic), config_.self, now.wall);
}

std::vector<JobInfo> JobOwner::find_in_memory(const Now& now, const JobFilter& filter) const {
  std::vector<JobInfo> found;
  const auto pattern = filter.topic.empty() ? TopicPattern::parse("*") : TopicPattern::parse(filter.topic);
  const auto take = [&](const Job& job, const Dispatch* dispatch) {
    if (found.size() >= filter.limit || !pattern || !pattern->matches(topics_.text(job.topic))) return;
    JobInfo info = to_info(job, dispatch, topics_.text(job.topic), config_.self, now.wall);
    if (!filter.state || info.state == *filter.state) found.push_back(std::move(info));
  };
  for (const auto number : unstored_order_) take(*unstored_ended_.at(number), nullptr);
  for (const auto& [number, job] : unstored_) {
    const auto active = active_.find(number);
    take(*job, active == active_.end() ? nullptr : &active->second.dispatch);
  }
  return found;
}

JobOwner::Counts JobOwner::counts() const {
  Counts counts = counts_;
  counts.active = active_.size();
  for (const auto topic : ready_.topics()) counts.ready_in_memory += ready_.in_memory(topic);
  return counts;
}

}  // namespace headrace::job
