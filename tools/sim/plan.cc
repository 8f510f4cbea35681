#include "tools/sim/plan.h"

#include "core/wire/codec.h"

namespace headrace::sim {

Bytes params_of(Tag tag) {
  Bytes params;
  wire::Writer(params).map(1).text("tag").u64(tag);
  return params;
}

Tag tag_of(BytesView params) {
  wire::Reader in(params);
  in.map(1);
  in.text(3);
  const auto tag = in.u64(UINT32_MAX);
  return in.ok() ? static_cast<Tag>(tag) : 0;
}

Bytes payload_of(const JobPlan& plan) {
  return Bytes(plan.payload_bytes, static_cast<char>('a' + plan.tag % 26));
}

job::NewJob new_job(const JobPlan& plan, WallTime now) {
  job::NewJob job;
  job.id = plan.id;
  job.topic = plan.topic;
  job.priority = plan.priority;
  job.max_attempts = plan.max_attempts;
  job.level = plan.level;
  if (plan.not_before > Millis{0}) job.not_before = now + plan.not_before;
  job.params = params_of(plan.tag);
  job.payload = payload_of(plan);
  return job;
}

}  // namespace headrace::sim
