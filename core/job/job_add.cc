// Taking jobs in.
#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/job/job_owner.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/topic/topic.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

// Numbers are handed out from blocks whose end is on disk before the first of them is used: what is erased from
// history can't make a number come back.
constexpr std::uint64_t kBlock = 1 << 20;

void put_number(WriteBatch& batch, BytesView key, std::uint64_t number) {
  Bytes body;
  wire::Writer(body).u64(number);
  record::put(batch, key, kRecordVersion, body);
}

}  // namespace

Result<void> check_new(const NewJob& job) {
  if (auto topic = Topic::check(job.topic); !topic) return topic;
  if (is_system_topic(job.topic)) {
    return fail(Code::kForbidden, "'" + job.topic + "' lies under $sys, which belongs to Headrace: choose another topic");
  }
  if (job.priority > 9) {
    return fail(Code::kInvalid, "priority " + std::to_string(job.priority) + " is not between 0 and 9");
  }
  if (job.max_attempts < 1 || job.max_attempts > limits::kAttempts) {
    return fail(Code::kInvalid, "max_attempts " + std::to_string(job.max_attempts) + " is not between 1 and " +
                                    std::to_string(limits::kAttempts));
  }
  if (job.payload.size() > limits::kJobPayloadBytes) {
    return fail(Code::kInvalid, "the payload has " + std::to_string(job.payload.size()) + " bytes; at most " +
                                    std::to_string(limits::kJobPayloadBytes) +
                                    " are taken: store it elsewhere and send where it is");
  }
  if (job.params.size() > limits::kParamsBytes) {
    return fail(Code::kInvalid, "the parameters take " + std::to_string(job.params.size()) + " bytes; at most " +
                                    std::to_string(limits::kParamsBytes) + " are taken: use the payload for bulk");
  }
  if (job.id && job.id->is_zero()) return fail(Code::kInvalid, "a job's id must not be zero");
  return {};
}

void JobOwner::add(const Now& now, Ticket ticket, std::vector<NewJob> jobs, bool look) {
  HEADRACE_CHECK(!jobs.empty());
  if (const auto full = lacks_memory(jobs)) return host_.added(ticket, fail(*full), Level::kMemory);
  if (std::any_of(jobs.begin(), jobs.end(), [&](const NewJob& job) {
        return job.id && !known(*job.id) && (look || of_earlier_life(*job.id));
      })) {
    return look_up(now, ticket, std::move(jobs));
  }
  admit(now, ticket, std::move(jobs));
}

// Jobs of level memory are bounded, since nothing else bounds them.
std::optional<Error> JobOwner::lacks_memory(const std::vector<NewJob>& jobs) const {
  std::size_t more = 0, bytes = 0;
  for (const auto& job : jobs) {
    if (job.level != Level::kMemory || (job.id && known(*job.id))) continue;  // a repeat takes none
    ++more;
    bytes += job.params.size() + job.payload.size();
  }
  if (more == 0) return {};
  if (unstored_.size() + more <= limits::kUnstoredJobs &&
      unstored_bytes_ + bytes <= limits::kUnstoredBytes)
    return {};
  return Error{Code::kFull, std::to_string(unstored_.size()) +
                                " unfinished jobs of level memory with " +
                                std::to_string(unstored_bytes_ >> 20) + " MiB are kept here, of " +
                                std::to_string(limits::kUnstoredJobs) + " and " +
                                std::to_string(limits::kUnstoredBytes >> 20) +
                                " MiB: add when some have ended, or at level os or disk"};
}

void JobOwner::look_up(const Now&, Ticket ticket, std::vector<NewJob> jobs) {
  std::vector<std::pair<JobId, std::optional<std::uint64_t>>> ids;
  for (const auto& job : jobs) {
    if (job.id) ids.emplace_back(*job.id, own_number(*job.id));
  }
  auto shared = std::make_shared<std::vector<NewJob>>(std::move(jobs));
  host_.read([this, ticket, shared, ids = std::move(ids)](const Snapshot& snapshot) -> Continuation {
    auto stored = std::make_shared<std::vector<Found>>();
    std::string fault;
    for (const auto& [id, number] : ids) {
      auto found = read_by_id(snapshot, id, number);
      if (!found) fault = found.error().message;
      if (found && *found) stored->push_back(std::move(**found));
    }
    return [this, ticket, shared, stored, fault](const Now& later) {
      if (!fault.empty()) return host_.added(ticket, fail(Code::kStore, fault), Level::kDisk);
      for (const auto& found : *stored) {
        const bool added = foreign_.emplace(found.job.id, found.job.number).second;
        if (added && is_terminal(found.job.state)) foreign_old_.emplace_back(later.mono, found.job.id);
      }
      admit(later, ticket, std::move(*shared));
    };
  });
}

void JobOwner::admit(const Now& now, Ticket ticket, std::vector<NewJob> jobs) {
  // The weakest level of a group is what its answer can promise; a repeat says what was asked again.
  Level level = Level::kDisk;
  for (const auto& job : jobs) level = std::max(level, job.level);
  std::vector<JobId> ids;
  ids.reserve(jobs.size());
  for (auto& spec : jobs) {
    if (spec.id && known(*spec.id)) {
      ids.push_back(*spec.id);
      if (spec.level != Level::kMemory) host_.batch(spec.level);  // the first add may not be on disk yet
      continue;
    }
    JobPtr job = make_job(now, std::move(spec));
    ids.push_back(job->id);
    if (job->due) {
      write_rows(*job);
      delay(std::move(job));
    } else {
      enqueue(std::move(job));
    }
  }
  work_changed_ = true;
  host_.added(ticket, std::move(ids), level);
}

JobPtr JobOwner::make_job(const Now& now, NewJob spec) {
  reserve_numbers();
  auto job = std::make_unique<Job>();
  // An id made here tells owner and number, so that it needs no row to be found by. One of an earlier life whose add
  // was lost with the store comes back under its number.
  job->number = spec.id && of_earlier_life(*spec.id) ? spec.id->low() : next_number_++;
  job->foreign_id = spec.id.has_value();
  job->id = spec.id.value_or(JobId::from_halves(config_.self.high(), job->number));
  job->level = spec.level;
  job->priority = spec.priority;
  job->max_attempts = spec.max_attempts;
  job->added = now.wall;
  if (spec.not_before && *spec.not_before > now.wall) job->due = spec.not_before;
  job->params = std::move(spec.params);
  job->payload = std::move(spec.payload);
  job->payload_bytes = job->payload.size();
  // The row of a topic outlives its jobs and is shared: it goes with whatever is written next.
  WriteBatch topic_row;
  const auto topics = topics_.texts().size();
  job->topic = topics_.number_of(spec.topic, topic_row);
  if (!topic_row.empty()) host_.batch(job->stored() ? job->level : Level::kOs).append(topic_row);
  if (topics_.texts().size() != topics) {
    for (auto& [key, consumer] : consumers_) {
      if (consumer.retired || !consumer.topics.matches(spec.topic)) continue;
      consumer.matching.push_back(job->topic);
      takers_[job->topic].push_back(key);
    }
  }
  if (job->foreign_id) foreign_.emplace(job->id, job->number);
  if (!job->stored()) {
    unstored_.emplace(job->number, job.get());
    unstored_bytes_ += job->payload_bytes + job->params.size();
  }
  return job;
}

void JobOwner::reserve_numbers() {
  if (next_number_ + kBlock / 2 >= reserved_number_) {
    reserved_number_ = next_number_ + kBlock;
    put_number(host_.batch(Level::kDisk), keys::meta("job-numbers"), reserved_number_);
  }
  if (ready_.next_number() + kBlock / 2 >= reserved_ready_) {
    reserved_ready_ = ready_.next_number() + kBlock;
    put_number(host_.batch(Level::kDisk), keys::meta("ready-numbers"), reserved_ready_);
  }
}

void JobOwner::write_job(const Job& job) {
  Bytes body;
  encode(body, job);
  record::put(host_.batch(job.level), keys::job(job.number), kRecordVersion, body);
}

// Everything of a new job but its place in a queue.
void JobOwner::write_rows(Job& job) {
  job.unwritten = false;
  if (!job.stored()) return;
  write_job(job);
  WriteBatch& batch = host_.batch(job.level);
  if (job.foreign_id) put_number(batch, keys::job_id(job.id), job.number);
  if (!job.payload_apart() || job.payload.empty()) return;
  record::put(batch, keys::payload(job.number), kRecordVersion, job.payload);
}

void JobOwner::enqueue(JobPtr job) {
  job->ready = ready_.take_number();
  if (!job->stored()) {
    ready_.push(std::move(job));
    return;
  }
  if (!ready_.keeps(*job)) {
    write_rows(*job);
    put_number(host_.batch(job->level), keys::ready({job->queue, job->topic, job->priority, job->ready}), job->number);
    ready_.push(std::move(job));
    return;
  }
  // It may be dispatched within this turn: then it never needs a row in the queue.
  job->unwritten = true;
  unwritten_.push_back(ready_.push(std::move(job)));
}

void JobOwner::delay(JobPtr job) {
  if (!job->stored()) return delayed_.add_unstored(std::move(job));
  const DelayedSet::Entry entry{*job->due, job->number, job->topic, job->priority};
  put_delayed(host_.batch(job->level), entry);
  delayed_.add(entry);
}

std::optional<std::uint64_t> JobOwner::number_of(const JobId& id) const {
  if (const auto at = foreign_.find(id); at != foreign_.end()) return at->second;
  return own_number(id);
}

// The number in an id that was made here.
std::optional<std::uint64_t> JobOwner::own_number(const JobId& id) const {
  if (id.high() == config_.self.high() && id.low() != 0 && id.low() < next_number_) return id.low();
  return {};
}

// Made here before this start: whether its add reached the disk, only the disk tells.
bool JobOwner::of_earlier_life(const JobId& id) const {
  const auto number = own_number(id);
  return number && *number < first_number_;
}

bool JobOwner::known(const JobId& id) const {
  return foreign_.contains(id) || (own_number(id) && !of_earlier_life(id));
}

}  // namespace headrace::job
