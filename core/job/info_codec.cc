#include "core/job/info_codec.h"

#include "core/base/limits.h"
#include "core/value/value_codec.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

constexpr std::size_t kFields = 17;

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

void put(wire::Writer& out, const JobInfo& info) {
  out.array(kFields).id(info.id).text(info.topic).text(info.queue).u64(static_cast<std::uint64_t>(info.state));
  out.u64(static_cast<std::uint64_t>(info.level)).i64(info.priority).u64(info.attempt).u64(info.max_attempts);
  out.u64(info.deliveries).id(info.owner);
  if (info.consumer) {
    out.id(*info.consumer);
  } else {
    out.nil();
  }
  out.time(info.added);
  out.array(3);
  put(out, info.not_before);
  put(out, info.started);
  put(out, info.finished);
  if (info.result) {
    out.bin(encode(*info.result).value_or(Bytes{}));
  } else {
    out.nil();
  }
  out.bin(info.error).array(info.errors.size());
  for (const auto& error : info.errors) out.bin(error);
  out.nil();  // the place of the next field
}

Result<JobInfo> read(wire::Reader& in) {
  JobInfo info;
  auto fields = in.array(64);
  if (fields < kFields) in.fail();
  info.id = in.id<JobId>();
  info.topic = in.text(limits::kTopicBytes);
  info.queue = in.text(limits::kNameBytes);
  info.state = static_cast<JobState>(in.u64(static_cast<std::uint64_t>(kLastJobState)));
  info.level = static_cast<Level>(in.u64(2));
  info.priority = static_cast<int>(in.u64(9));
  info.attempt = static_cast<unsigned>(in.u64(UINT32_MAX));
  info.max_attempts = static_cast<unsigned>(in.u64(UINT32_MAX));
  info.deliveries = static_cast<unsigned>(in.u64(UINT32_MAX));
  info.owner = in.id<NodeId>();
  if (!in.try_nil()) info.consumer = in.id<NodeId>();
  info.added = in.time();
  if (in.array(3) != 3) in.fail();
  info.not_before = read_time(in);
  info.started = read_time(in);
  info.finished = read_time(in);
  if (!in.try_nil()) info.result = decode_value(in.bin(limits::kResultBytes)).value_or(Value{});
  info.error = in.bin(limits::kErrorBytes);
  const auto errors = in.array(limits::kErrorsKept);
  for (std::size_t i = 0; i < errors && in.ok(); ++i) info.errors.emplace_back(in.bin(limits::kErrorBytes));
  for (; fields > kFields - 1 && in.ok(); --fields) in.skip();
  return info;
}

}  // namespace

Bytes encode_infos(const std::vector<JobInfo>& infos) {
  Bytes bytes;
  wire::Writer out(bytes);
  out.array(infos.size());
  for (const auto& info : infos) put(out, info);
  return bytes;
}

Result<std::vector<JobInfo>> decode_infos(BytesView body) {
  wire::Reader in(body);
  std::vector<JobInfo> infos;
  const auto count = in.array(limits::kFindLimit);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    auto info = read(in);
    if (info) infos.push_back(std::move(*info));
  }
  if (!in.ok()) return fail(Code::kProtocol, "the answer about jobs cannot be read");
  return infos;
}

}  // namespace headrace::job
