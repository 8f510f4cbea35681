// Looking at jobs in a snapshot: pure functions of what is stored, run on the read thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/job/delayed_set.h"
#include "core/job/job.h"
#include "core/job/ready_queue.h"
#include "core/job/record.h"
#include "core/store/store.h"

namespace headrace::job {

// The text of a topic number; topics are few and known to the owner, who copies them in.
using TopicNames = std::vector<std::string>;  // by number

JobInfo to_info(const Job& job, const Dispatch* dispatch, const std::string& topic, const NodeId& owner, WallTime now);

// The job with its dispatch, if there is one. nullopt: no such job.
struct Found {
  Job job;
  std::optional<Dispatch> dispatch;
};
Result<std::optional<Found>> read_job(const Snapshot& snapshot, std::uint64_t number);
Result<std::optional<std::uint64_t>> read_job_number(const Snapshot& snapshot, const JobId& id);
// By id: under `number` if the id tells it, else under the number in the id's row.
Result<std::optional<Found>> read_by_id(const Snapshot& snapshot, const JobId& id, std::optional<std::uint64_t> number);
Result<Bytes> read_payload(const Snapshot& snapshot, std::uint64_t number);

// The first `filter.limit` stored jobs that pass, oldest first.
Result<std::vector<JobInfo>> find_jobs(const Snapshot& snapshot, const JobFilter& filter, const TopicNames& topics,
                                       const NodeId& owner, WallTime now);

// The rows of one lane above a cursor, with their jobs. Rows that cannot be read are left out and told.
struct RefillRows {
  std::vector<JobPtr> jobs;
  bool end = false;
  std::vector<std::string> faults;
};
RefillRows read_refill(const Snapshot& snapshot, std::uint32_t queue, const ReadyQueue::Refill& refill,
                       std::size_t limit);

struct DelayedRows {
  std::vector<DelayedSet::Entry> entries;
  bool end = false;
};
// Entries after `from`, or from the beginning.
DelayedRows read_delayed(const Snapshot& snapshot, const std::optional<DelayedSet::Entry>& from, std::size_t limit);

// Who and what is due of a delayed row is in its value: so becoming due needs no read.
void put_delayed(WriteBatch& batch, const DelayedSet::Entry& entry);

}  // namespace headrace::job
