#include "core/job/lookup.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/topic/topic_pattern.h"
#include "core/value/value_codec.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

Result<Job> open_job(std::uint64_t number, BytesView sealed) {
  const auto opened = record::open(sealed);
  if (!opened) return fail(opened.error());
  return decode_job(number, opened->body);
}

Result<std::uint64_t> open_number(BytesView sealed) {
  const auto opened = record::open(sealed);
  if (!opened) return fail(opened.error());
  wire::Reader in(opened->body);
  const auto number = in.u64();
  if (!in.ok()) return fail(Code::kStore, "a row that names a job is damaged");
  return number;
}

}  // namespace

JobInfo to_info(const Job& job, const Dispatch* dispatch, const std::string& topic, const NodeId& owner,
                WallTime now) {
  JobInfo info;
  info.id = job.id;
  info.topic = topic;
  info.queue = "default";
  info.level = job.level;
  info.priority = job.priority;
  info.max_attempts = job.max_attempts;
  info.attempt = job.attempts;
  info.deliveries = job.deliveries;
  info.owner = owner;
  info.consumer = job.consumer;
  info.added = job.added;
  info.started = job.started;
  info.finished = job.finished;
  info.error = job.error;
  info.errors = job.errors;
  info.state = job.state;
  if (is_terminal(job.state)) {
    if (job.state == JobState::kSucceeded) info.result = decode_value(job.result).value_or(Value{});
    return info;
  }
  if (dispatch != nullptr) {
    info.state = JobState::kActive;
    info.attempt = job.attempts + 1;
    info.deliveries = dispatch->deliveries;
    info.consumer = dispatch->consumer;
    info.started = dispatch->started;
  } else if (job.due && *job.due > now) {
    info.state = JobState::kDelayed;
    info.not_before = job.due;
  }
  return info;
}

Result<std::optional<Found>> read_job(const Snapshot& snapshot, std::uint64_t number) {
  auto sealed = snapshot.get(keys::job(number));
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return std::optional<Found>{};
  auto job = open_job(number, **sealed);
  if (!job) return fail(job.error());
  Found found{std::move(*job), {}};
  auto active = snapshot.get(keys::active(number));
  if (!active) return fail(active.error());
  if (*active) {
    const auto opened = record::open(**active);
    if (!opened) return fail(opened.error());
    auto dispatch = decode_dispatch(opened->body);
    if (!dispatch) return fail(dispatch.error());
    found.dispatch = *dispatch;
  }
  return std::optional<Found>(std::move(found));
}

Result<std::optional<std::uint64_t>> read_job_number(const Snapshot& snapshot, const JobId& id) {
  auto sealed = snapshot.get(keys::job_id(id));
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return std::optional<std::uint64_t>{};
  const auto number = open_number(**sealed);
  if (!number) return fail(number.error());
  return std::optional<std::uint64_t>(*number);
}

Result<std::optional<Found>> read_by_id(const Snapshot& snapshot, const JobId& id,
                                        std::optional<std::uint64_t> number) {
  if (!number) {
    const auto row = read_job_number(snapshot, id);
    if (!row) return fail(row.error());
    number = *row;
  }
  if (!number) return std::optional<Found>{};
  auto found = read_job(snapshot, *number);
  if (found && *found && (*found)->job.id != id) return std::optional<Found>{};
  return found;
}

Result<Bytes> read_payload(const Snapshot& snapshot, std::uint64_t number) {
  auto sealed = snapshot.get(keys::payload(number));
  if (!sealed) return fail(sealed.error());
  if (!*sealed) return fail(Code::kStore, "the payload of job " + std::to_string(number) + " is missing");
  const auto opened = record::open(**sealed);
  if (!opened) return fail(opened.error());
  return Bytes(opened->body);
}

Result<std::vector<JobInfo>> find_jobs(const Snapshot& snapshot, const JobFilter& filter, const TopicNames& topics,
                                       const NodeId& owner, WallTime now) {
  std::vector<JobInfo> found;
  std::vector<bool> wanted(topics.size(), filter.topic.empty());
  if (!filter.topic.empty()) {
    const auto pattern = TopicPattern::parse(filter.topic);
    if (!pattern) return fail(pattern.error());
    for (std::size_t i = 0; i < topics.size(); ++i) wanted[i] = pattern->matches(topics[i]);
  }
  const auto limit = std::min(filter.limit, limits::kFindLimit);
  const auto rows = snapshot.cursor();
  const auto active = snapshot.cursor();
  active->seek(keys::space(keys::Space::kActive));
  for (rows->seek(keys::space(keys::Space::kJob)); rows->valid() && found.size() < limit; rows->next()) {
    const auto number = keys::parse_job(rows->key());
    if (!number) break;
    auto job = open_job(*number, rows->value());
    if (!job) continue;  // damaged: told when it is opened; the rest can still be found
    if (job->topic >= wanted.size() || !wanted[job->topic]) continue;
    std::optional<Dispatch> dispatch;
    const keys::Key key = keys::active(*number);
    if (active->valid() && active->key() < key.view()) active->seek(key);
    if (active->valid() && active->key() == key.view()) {
      const auto opened = record::open(active->value());
      if (opened) dispatch = decode_dispatch(opened->body).value_or(Dispatch{});
    }
    JobInfo info = to_info(*job, dispatch ? &*dispatch : nullptr, topics[job->topic], owner, now);
    if (!filter.state || info.state == *filter.state) found.push_back(std::move(info));
  }
  if (const auto status = rows->status(); !status) return fail(status.error());
  return found;
}

RefillRows read_refill(const Snapshot& snapshot, std::uint32_t queue, const ReadyQueue::Refill& refill,
                       std::size_t limit) {
  RefillRows rows;
  const auto index = snapshot.cursor();
  const auto jobs = snapshot.cursor();
  keys::Ready at{queue, refill.topic, refill.priority, refill.above + 1};
  for (index->seek(keys::ready(at)); index->valid(); index->next()) {
    const auto row = keys::parse_ready(index->key());
    if (!row || row->queue != queue || row->topic != refill.topic || row->priority != refill.priority) break;
    if (rows.jobs.size() >= limit) return rows;
    const auto number = open_number(index->value());
    if (!number) {
      rows.faults.push_back(number.error().message);
      continue;
    }
    const keys::Key key = keys::job(*number);
    // Jobs were mostly added in the order in which they became ready: the next row is the one most times.
    if (jobs->valid()) jobs->next();
    if (!jobs->valid() || jobs->key() != key.view()) jobs->seek(key);
    auto job = jobs->valid() && jobs->key() == key.view()
                   ? open_job(*number, jobs->value())
                   : Result<Job>(fail(Code::kStore, "job " + std::to_string(*number) + " has an index row only"));
    if (!job) {
      rows.faults.push_back(job.error().message);
      continue;
    }
    rows.jobs.push_back(std::make_unique<Job>(std::move(*job)));
    rows.jobs.back()->ready = row->number;
  }
  if (const auto status = index->status(); !status) rows.faults.push_back(status.error().message);
  rows.end = true;
  return rows;
}

DelayedRows read_delayed(const Snapshot& snapshot, const std::optional<DelayedSet::Entry>& from, std::size_t limit) {
  DelayedRows rows;
  const auto cursor = snapshot.cursor();
  if (from) {
    cursor->seek(keys::delayed({from->due, from->job + 1}));
  } else {
    cursor->seek(keys::space(keys::Space::kDelayed));
  }
  for (; cursor->valid(); cursor->next()) {
    const auto row = keys::parse_delayed(cursor->key());
    if (!row) break;
    if (rows.entries.size() >= limit) return rows;
    const auto opened = record::open(cursor->value());
    if (!opened) continue;
    wire::Reader in(opened->body);
    in.array(2);
    const auto topic = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
    const auto priority = static_cast<std::uint8_t>(in.u64(9));
    if (in.ok()) rows.entries.push_back({row->due, row->job, topic, priority});
  }
  rows.end = true;
  return rows;
}

void put_delayed(WriteBatch& batch, const DelayedSet::Entry& entry) {
  Bytes body;
  wire::Writer(body).array(2).u64(entry.topic).u64(entry.priority);
  record::put(batch, keys::delayed({entry.due, entry.job}), kRecordVersion, body);
}

}  // namespace headrace::job
