#include "core/wire/job.h"

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {
namespace {

constexpr std::size_t kMaxList = 2 * limits::kHighWaterMark * 16;  // claims of one node upon another

void put(Writer& out, const JobClaim& claim) {
  out.array(3).u64(claim.job_number).u64(claim.token.life).u64(claim.token.number);
}

void encode_claims(Bytes& bytes, Kind kind, const std::vector<JobClaim>& claims) {
  Writer out(bytes);
  out.array(2).u64(number(kind)).array(claims.size());
  for (const auto& claim : claims) put(out, claim);
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
void encode(Bytes& out, const JobClaims& claims) { encode_claims(out, Kind::kJobClaims, claims.jobs); }
bool decode(Reader& in, JobClaims& claims) { return decode_claims(in, claims.jobs); }
void encode(Bytes& out, const JobClaimsAck& ack) { encode_claims(out, Kind::kJobClaimsAck, ack.refused); }
bool decode(Reader& in, JobClaimsAck& ack) { return decode_claims(in, ack.refused); }

}  // namespace headrace::wire
