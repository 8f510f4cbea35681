#include "core/wire/call.h"

#include "core/base/limits.h"

namespace headrace::wire {
namespace {

Writer begin(Bytes& bytes, Kind kind, std::uint64_t call, std::size_t fields) {
  Writer out(bytes);
  out.array(2 + fields).u64(number(kind)).u64(call);
  return out;
}

void put(Writer& out, const PayloadRef& payload) { out.bin(payload.inlined).u64(payload.blob); }

PayloadRef read_payload(Reader& in) {
  PayloadRef payload;
  payload.inlined = in.bin(limits::kChunkBytes);
  payload.blob = in.u64();
  return payload;
}

Millis read_millis(Reader& in) { return Millis{in.u64(UINT32_MAX)}; }

void put(Writer& out, const NewJob& job) {
  out.array(9).id(job.id).text(job.topic).u64(job.priority);
  if (job.not_before) {
    out.time(*job.not_before);
  } else {
    out.nil();
  }
  out.u64(job.max_attempts).u64(job.level).bin(job.params);
  put(out, job.payload);
}

NewJob read_job(Reader& in) {
  NewJob job;
  auto fields = in.array(32);
  if (fields < 9) in.fail();
  job.id = in.id<JobId>();
  job.topic = in.text(limits::kTopicBytes);
  job.priority = static_cast<std::uint8_t>(in.u64(9));
  if (!in.try_nil()) job.not_before = in.time();
  job.max_attempts = static_cast<std::uint32_t>(in.u64(limits::kAttempts));
  job.level = static_cast<std::uint8_t>(in.u64(2));
  job.params = in.bin(limits::kParamsBytes);
  job.payload = read_payload(in);
  for (; fields > 9 && in.ok(); --fields) in.skip();
  return job;
}

}  // namespace

void encode(Bytes& bytes, const CallHello& call) { begin(bytes, Kind::kCallHello, call.call, 0); }

bool decode(Reader& in, CallHello& call) {
  call.call = in.u64();
  return in.ok();
}

void encode(Bytes& bytes, const CallAddJobs& call) {
  auto out = begin(bytes, Kind::kCallAddJobs, call.call, 2);
  out.boolean(call.repeat).array(call.jobs.size());
  for (const auto& job : call.jobs) put(out, job);
}

bool decode(Reader& in, CallAddJobs& call) {
  call.call = in.u64();
  call.repeat = in.boolean();
  const auto count = in.array(limits::kAddMany);
  for (std::size_t i = 0; i < count && in.ok(); ++i) call.jobs.push_back(read_job(in));
  return in.ok();
}

void encode(Bytes& bytes, const CallGetJob& call) { begin(bytes, Kind::kCallGetJob, call.call, 1).id(call.id); }

bool decode(Reader& in, CallGetJob& call) {
  call.call = in.u64();
  call.id = in.id<JobId>();
  return in.ok();
}

void encode(Bytes& bytes, const CallFindJobs& call) {
  begin(bytes, Kind::kCallFindJobs, call.call, 3).u64(call.state).text(call.topic).u64(call.limit);
}

bool decode(Reader& in, CallFindJobs& call) {
  call.call = in.u64();
  call.state = static_cast<std::uint8_t>(in.u64(9));
  call.topic = in.text(limits::kTopicBytes);
  call.limit = in.u64();
  return in.ok();
}

void encode(Bytes& bytes, const CallWaitJob& call) {
  begin(bytes, Kind::kCallWaitJob, call.call, 2).id(call.id).i64(call.patience.count());
}

bool decode(Reader& in, CallWaitJob& call) {
  call.call = in.u64();
  call.id = in.id<JobId>();
  call.patience = read_millis(in);
  return in.ok();
}

void encode(Bytes& bytes, const CallMembers& call) { begin(bytes, Kind::kCallMembers, call.call, 0); }

bool decode(Reader& in, CallMembers& call) {
  call.call = in.u64();
  return in.ok();
}

void encode(Bytes& bytes, const CallPublish& call) {
  auto out = begin(bytes, Kind::kCallPublish, call.call, 5);
  out.text(call.topic).bin(call.params);
  put(out, call.payload);
  out.i64(call.patience.count());
}

bool decode(Reader& in, CallPublish& call) {
  call.call = in.u64();
  call.topic = in.text(limits::kTopicBytes);
  call.params = in.bin(limits::kParamsBytes);
  call.payload = read_payload(in);
  call.patience = read_millis(in);
  return in.ok();
}

void encode(Bytes& bytes, const CallSubscribe& call) {
  begin(bytes, Kind::kCallSubscribe, call.call, 3).u64(call.subscription).text(call.topic).boolean(call.sink);
}

bool decode(Reader& in, CallSubscribe& call) {
  call.call = in.u64();
  call.subscription = in.u64();
  call.topic = in.text(limits::kTopicBytes);
  call.sink = in.boolean();
  return in.ok();
}

void encode(Bytes& bytes, const CallUnsubscribe& call) {
  begin(bytes, Kind::kCallUnsubscribe, call.call, 1).u64(call.subscription);
}

bool decode(Reader& in, CallUnsubscribe& call) {
  call.call = in.u64();
  call.subscription = in.u64();
  return in.ok();
}

void encode(Bytes& bytes, const ClientAlive&) { Writer(bytes).array(1).u64(number(Kind::kClientAlive)); }

void encode(Bytes& bytes, const Reply& reply) {
  auto out = begin(bytes, Kind::kReply, reply.call, 4);
  out.u64(reply.code).bin(reply.message);
  put(out, reply.body);
}

bool decode(Reader& in, Reply& reply) {
  reply.call = in.u64();
  reply.code = static_cast<std::uint8_t>(in.u64(UINT8_MAX));
  reply.message = in.bin(limits::kErrorBytes);
  reply.body = read_payload(in);
  return in.ok();
}

void encode(Bytes& bytes, const ClientEvent& event) {
  Writer out(bytes);
  out.array(10).u64(number(Kind::kClientEvent)).u64(event.subscription).id(event.node).id(event.id).time(event.time);
  out.u64(event.seq).text(event.topic).bin(event.params);
  put(out, event.payload);
}

bool decode(Reader& in, ClientEvent& event) {
  event.subscription = in.u64();
  event.node = in.id<NodeId>();
  event.id = in.id<EventId>();
  event.time = in.time();
  event.seq = in.u64();
  event.topic = in.text(limits::kTopicBytes);
  event.params = in.bin(limits::kParamsBytes);
  event.payload = read_payload(in);
  return in.ok();
}

Bytes encode_body(const HelloBody& hello) {
  Bytes bytes;
  Writer out(bytes);
  out.array(6).id(hello.id).u64(hello.incarnation).text(hello.name).text(hello.cluster);
  out.text(hello.data_endpoint).boolean(hello.has_store);
  return bytes;
}

bool decode_body(BytesView body, HelloBody& hello) {
  Reader in(body);
  if (in.array(32) < 6) in.fail();
  hello.id = in.id<NodeId>();
  hello.incarnation = in.u64();
  hello.name = in.text(limits::kNameBytes);
  hello.cluster = in.text(limits::kNameBytes);
  hello.data_endpoint = in.text(limits::kEndpointBytes);
  hello.has_store = in.boolean();
  return in.ok();
}

Bytes encode_body(const std::vector<MemberRow>& rows) {
  Bytes bytes;
  Writer out(bytes);
  out.array(rows.size());
  for (const auto& row : rows) {
    out.array(10).id(row.id).text(row.name).text(row.state).text(row.endpoint).u64(row.incarnation);
    out.map(row.tags.size());
    for (const auto& [key, value] : row.tags) out.text(key).text(value);
    out.text(row.data_endpoint).u64(row.advert_version).i64(row.age.count());
    if (row.round_trip) {
      out.i64(row.round_trip->count());
    } else {
      out.nil();
    }
  }
  return bytes;
}

bool decode_body(BytesView body, std::vector<MemberRow>& rows) {
  Reader in(body);
  const auto count = in.array(limits::kMembers);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    MemberRow row;
    auto fields = in.array(32);
    if (fields < 10) in.fail();
    row.id = in.id<NodeId>();
    row.name = in.text(limits::kNameBytes);
    row.state = in.text(16);
    row.endpoint = in.text(limits::kEndpointBytes);
    row.incarnation = in.u64();
    const auto tags = in.map(limits::kTags);
    for (std::size_t tag = 0; tag < tags && in.ok(); ++tag) {
      std::string key(in.text(limits::kTagsBytes));
      row.tags.emplace_back(std::move(key), std::string(in.text(limits::kTagsBytes)));
    }
    row.data_endpoint = in.text(limits::kEndpointBytes);
    row.advert_version = in.u64();
    row.age = Millis{in.u64(INT64_MAX)};
    if (!in.try_nil()) row.round_trip = Micros{in.u64(INT64_MAX)};
    for (; fields > 10 && in.ok(); --fields) in.skip();
    rows.push_back(std::move(row));
  }
  return in.ok();
}

Bytes encode_body(const PublishedBody& published) {
  Bytes bytes;
  Writer(bytes).array(3).id(published.id).u64(published.destinations).u64(published.dropped);
  return bytes;
}

bool decode_body(BytesView body, PublishedBody& published) {
  Reader in(body);
  if (in.array(16) < 3) in.fail();
  published.id = in.id<EventId>();
  published.destinations = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  published.dropped = static_cast<std::uint32_t>(in.u64(UINT32_MAX));
  return in.ok();
}

}  // namespace headrace::wire
