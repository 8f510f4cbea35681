// JobPlan: a job as a simulated program adds it, and what its handler will do. Known by its tag,
// which travels in the parameters, so that a job is recognised wherever it turns up.
#pragma once

#include <cstdint>
#include <optional>

#include "core/job/job.h"
#include "core/job/job_owner.h"

namespace headrace::sim {

using Tag = std::uint32_t;  // from 1

struct JobPlan {
  Tag tag = 0;
  std::string topic;
  std::optional<JobId> id;
  std::uint8_t priority = 4;
  Level level = Level::kDisk;
  std::size_t payload_bytes = 0;
  unsigned max_attempts = 10;
  Millis not_before{0};  // after it was added
  // The handler: so many attempts fail, then it ends so.
  unsigned fails = 0;
  JobEnd::Kind end = JobEnd::Kind::kOk;
  Nanos run_time{Millis{1}};
  bool hangs = false;  // its first run ends only when it is told to stop, or the faults are over
};

Bytes params_of(Tag tag);
Tag tag_of(BytesView params);  // 0 if there is none
Bytes payload_of(const JobPlan& plan);
job::NewJob new_job(const JobPlan& plan, WallTime now);

}  // namespace headrace::sim
