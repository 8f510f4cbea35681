#include "core/wire/job.h"

#include <algorithm>
#include <tuple>

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

constexpr std::size_t kMaxList = 4 * limits::kClaims;

void put(Writer& out, const JobClaim& claim) {
  out.array(3).u64(claim.job_number).u64(claim.token.life).u64(claim.token.number);
}

void put_claims(Writer& out, const std::vector<JobClaim>& claims) {
  out.array(claims.size());
  for (const auto& claim : claims) put(out, claim);
}

void encode_claims(Bytes& bytes, Kind kind, const std::vector<JobClaim>& claims) {
  Writer out(bytes);
  out.array(2).u64(number(kind));
  put_claims(out, claims);
}

bool decode_claims(Reader& in, std::vector<JobClaim>& claims) {
  const auto count = in.array(kMaxList);
  claims.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    if (in.array(3) != 3) in.fail();
    JobClaim claim;
    claim.job_number = in.u64();
    claim.token.life = in.u64();
    claim.token.number = in.u64();
    claims.push_back(claim);
  }
  return in.ok();
}

void put_numbers(Writer& out, const std::vector<std::uint64_t>& numbers) {
  out.array(numbers.size());
  for (const auto value : numbers) out.u64(value);
}

void read_numbers(Reader& in, std::vector<std::uint64_t>& numbers) {
  const auto count = in.array(kMaxList);
  numbers.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) numbers.push_back(in.u64());
}

}  // namespace

void encode(Bytes& bytes, const JobItem& item) {
  Writer out(bytes);
  out.array(13).u64(number(Kind::kJobItem));
  encode(out, item.window);
  encode(out, item.head);
  out.u64(item.token.life).u64(item.token.number).u64(item.job_number).id(item.id).text(item.topic);
  out.u64(item.attempt).u64(item.deliveries).bin(item.params).bin(item.payload.inlined).u64(item.payload.blob);
}

bool decode(Reader& in, JobItem& item) {
  decode(in, item.window);
  decode(in, item.head);
  item.token.life = in.u64();
  item.token.number = in.u64();
  item.job_number = in.u64();
  item.id = in.id<JobId>();
  item.topic = in.text(limits::kTopicBytes);
  item.attempt = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  item.deliveries = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  item.params = in.bin(limits::kParamsBytes);
  item.payload.inlined = in.bin(limits::kChunkBytes);
  item.payload.blob = in.u64();
  return in.ok();
}

void encode(Bytes& bytes, const JobDone& done) {
  Writer out(bytes);
  out.array(8).u64(number(Kind::kJobDone)).u64(done.token.life).u64(done.token.number).u64(done.job_number);
  out.u64(done.end).bin(done.result).bin(done.error);
  if (done.retry_after) {
    out.i64(done.retry_after->count());
  } else {
    out.nil();
  }
}

bool decode(Reader& in, JobDone& done) {
  done.token.life = in.u64();
  done.token.number = in.u64();
  done.job_number = in.u64();
  done.end = static_cast<std::uint8_t>(in.u64(2));
  done.result = in.bin(limits::kResultBytes);
  done.error = in.bin(limits::kErrorBytes);
  if (!in.try_nil()) done.retry_after = Millis{in.u64(UINT32_MAX)};
  return in.ok();
}

void encode(Bytes& bytes, const JobDoneAck& ack) {
  Writer out(bytes);
  out.array(4).u64(number(Kind::kJobDoneAck)).u64(ack.life);
  put_numbers(out, ack.accepted);
  put_numbers(out, ack.refused);
}

bool decode(Reader& in, JobDoneAck& ack) {
  ack.life = in.u64();
  read_numbers(in, ack.accepted);
  read_numbers(in, ack.refused);
  return in.ok();
}

void encode(Bytes& out, const JobHandBack& back) { encode_claims(out, Kind::kJobHandBack, back.jobs); }
bool decode(Reader& in, JobHandBack& back) { return decode_claims(in, back.jobs); }

void encode(Bytes& bytes, const JobClaims& claims) {
  Writer out(bytes);
  out.array(4).u64(number(Kind::kJobClaims));
  put_claims(out, claims.jobs);
  out.u64(claims.first).u64(claims.last);
}

bool decode(Reader& in, JobClaims& claims) {
  decode_claims(in, claims.jobs);
  claims.first = in.u64();
  claims.last = in.u64();
  return in.ok();
}

std::vector<JobClaims> in_messages(std::vector<JobClaim> claims) {
  std::sort(claims.begin(), claims.end(), [](const auto& a, const auto& b) {
    return std::tie(a.job_number, a.token) < std::tie(b.job_number, b.token);
  });
  std::vector<JobClaims> messages(1);
  for (const auto& claim : claims) {
    auto* message = &messages.back();
    // All of one job stay together.
    if (message->jobs.size() >= limits::kClaims &&
        message->jobs.back().job_number != claim.job_number) {
      message->last = message->jobs.back().job_number;
      message = &messages.emplace_back();
      message->first = messages[messages.size() - 2].last + 1;
    }
    message->jobs.push_back(claim);
  }
  return messages;
}

void encode(Bytes& out, const JobClaimsAck& ack) { encode_claims(out, Kind::kJobClaimsAck, ack.refused); }
bool decode(Reader& in, JobClaimsAck& ack) { return decode_claims(in, ack.refused); }

}  // namespace headrace::wire
