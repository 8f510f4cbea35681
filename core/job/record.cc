#include "core/job/record.h"

#include <algorithm>

#include "core/base/limits.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

constexpr std::size_t kFields = 21;

void put(wire::Writer& out, const std::optional<WallTime>& time) {
  if (time) {
    out.time(*time);
  } else {
    out.nil();
  }
}

std::optional<WallTime> read_time(wire::Reader& in) {
  if (in.try_nil()) return {};
  return in.time();
}

}  // namespace

void encode(Bytes& bytes, const Job& job) {
  wire::Writer out(bytes);
  out.array(kFields).id(job.id).boolean(job.foreign_id).u64(job.queue).u64(job.topic).u64(job.priority);
  out.u64(static_cast<std::uint64_t>(job.level)).u64(job.attempts).u64(job.deliveries).u64(job.max_attempts);
  out.time(job.added);
  put(out, job.due);
  out.bin(job.params).bin(job.payload_apart() ? BytesView{} : BytesView{job.payload}).u64(job.payload_bytes);
  out.array(job.errors.size());
  for (const auto& error : job.errors) out.bin(error);
  out.array(2).u64(job.answered.life).u64(job.answered.number);
  out.u64(static_cast<std::uint64_t>(job.state));
  if (job.consumer) {
    out.id(*job.consumer);
  } else {
    out.nil();
  }
  out.array(2);
  put(out, job.started);
  put(out, job.finished);
  out.bin(job.result).bin(job.error);
}

Result<Job> decode_job(std::uint64_t number, BytesView body) {
  wire::Reader in(body);
  Job job;
  job.number = number;
  if (in.array(64) < kFields) in.fail();
  job.id = in.id<JobId>();
  job.foreign_id = in.boolean();
  job.queue = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  job.topic = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  job.priority = static_cast<std::uint8_t>(in.u64(9));
  job.level = static_cast<Level>(in.u64(2));
  job.attempts = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  job.deliveries = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  job.max_attempts = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  job.added = in.time();
  job.due = read_time(in);
  job.params = in.bin(limits::kParamsBytes);
  job.payload = in.bin(kPayloadInRow);
  job.payload_bytes = in.u64(limits::kJobPayloadBytes);
  const auto errors = in.array(limits::kErrorsKept);
  for (std::size_t i = 0; i < errors && in.ok(); ++i) job.errors.emplace_back(in.bin(limits::kErrorBytes));
  if (in.array(2) != 2) in.fail();
  job.answered.life = in.u64();
  job.answered.number = in.u64();
  job.state = static_cast<JobState>(in.u64(static_cast<std::uint64_t>(kLastJobState)));
  if (!in.try_nil()) job.consumer = in.id<NodeId>();
  if (in.array(2) != 2) in.fail();
  job.started = read_time(in);
  job.finished = read_time(in);
  job.result = in.bin(limits::kResultBytes);
  job.error = in.bin(limits::kErrorBytes);
  if (!in.ok()) return fail(Code::kStore, "the record of job " + std::to_string(number) + " is damaged");
  return job;
}

void encode(Bytes& bytes, const Dispatch& dispatch) {
  wire::Writer out(bytes);
  out.array(7).u64(dispatch.token.life).u64(dispatch.token.number).id(dispatch.consumer);
  out.u64(dispatch.consumer_incarnation).u64(dispatch.consumer_number).u64(dispatch.deliveries);
  out.time(dispatch.started);
}

Result<Dispatch> decode_dispatch(BytesView body) {
  wire::Reader in(body);
  Dispatch dispatch;
  if (in.array(64) < 7) in.fail();
  dispatch.token.life = in.u64();
  dispatch.token.number = in.u64();
  dispatch.consumer = in.id<NodeId>();
  dispatch.consumer_incarnation = in.u64();
  dispatch.consumer_number = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  dispatch.deliveries = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  dispatch.started = in.time();
  if (!in.ok()) return fail(Code::kStore, "the record of a dispatch is damaged");
  return dispatch;
}

Millis backoff(unsigned failed, double unit) {
  constexpr Millis kFirst{1000};
  constexpr Millis kCap{600'000};
  Millis pause = kFirst;
  for (unsigned i = 1; i < failed && pause < kCap; ++i) pause *= 2;
  pause = std::min(pause, kCap);
  return Millis{static_cast<std::int64_t>(static_cast<double>(pause.count()) * (0.75 + unit / 2))};
}

}  // namespace headrace::job
