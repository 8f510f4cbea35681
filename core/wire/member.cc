#include "core/wire/member.h"

#include <utility>

#include "core/wire/codec.h"

namespace headrace::wire {
namespace {

constexpr std::size_t kFieldsMax = 64;  // newer versions append
constexpr std::size_t kReasonBytes = 512;

// Reads an array of at least `known` fields, and passes over those of a newer version.
template <typename Read>
void fields(Reader& in, std::size_t known, Read&& read) {
  const auto count = in.array(kFieldsMax);
  if (count < known) return in.fail();
  read();
  for (auto i = known; i < count && in.ok(); ++i) in.skip();
}

void put(Writer& out, const Numbers& numbers) {
  out.array(2).u64(numbers.incarnation).u64(numbers.refutation);
}

void get(Reader& in, Numbers& numbers) {
  fields(in, 2, [&] {
    numbers.incarnation = in.u64(INT64_MAX);  // room to add one
    numbers.refutation = in.u64(limits::kRefutations);
  });
}

void put(Writer& out, const Description& about) {
  out.array(8).text(about.name).text(about.control_endpoint).text(about.data_endpoint);
  out.map(about.tags.size());
  for (const auto& [key, value] : about.tags) out.text(key).text(value);
  out.boolean(about.has_store).boolean(about.reopened);
  out.u64(about.protocol_min).u64(about.protocol_max);
}

void get(Reader& in, std::map<std::string, std::string>& tags) {
  const auto count = in.map(limits::kTags);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    const auto key = in.text(limits::kTagsBytes);
    const auto value = in.text(limits::kTagsBytes);
    bytes += key.size() + value.size();
    if (bytes > limits::kTagsBytes) in.fail();
    if (in.ok()) tags.emplace(key, value);
  }
}

void get(Reader& in, Description& about) {
  fields(in, 8, [&] {
    about.name = in.text(limits::kNameBytes);
    about.control_endpoint = in.text(limits::kEndpointBytes);
    about.data_endpoint = in.text(limits::kEndpointBytes);
    get(in, about.tags);
    about.has_store = in.boolean();
    about.reopened = in.boolean();
    about.protocol_min = static_cast<std::uint16_t>(in.u64(UINT16_MAX));
    about.protocol_max = static_cast<std::uint16_t>(in.u64(UINT16_MAX));
  });
}

// [kind, id, numbers, what the kind adds]
void put(Writer& out, const Update& update) {
  const auto head = [&](std::size_t size) {
    out.array(size).u64(static_cast<std::uint64_t>(update.kind)).id(update.id);
    put(out, update.numbers);
  };
  switch (update.kind) {
    case UpdateKind::kAlive:
      head(5);
      out.u64(update.advert_version);
      put(out, *update.about);
      break;
    case UpdateKind::kSuspect:
    case UpdateKind::kDead:
      head(4);
      out.id(update.by);
      break;
    case UpdateKind::kLeft: head(3); break;
    case UpdateKind::kAdvert:
      head(4);
      out.u64(update.advert_version);
      break;
  }
}

// What stands behind id and numbers; how many fields it took.
std::size_t get_rest(Reader& in, std::size_t count, Update& update) {
  switch (update.kind) {
    case UpdateKind::kAlive: {
      if (count < 2) in.fail();
      update.advert_version = in.u64();
      auto about = std::make_shared<Description>();
      get(in, *about);
      update.about = std::move(about);
      return 2;
    }
    case UpdateKind::kSuspect:
    case UpdateKind::kDead:
      if (count < 1) in.fail();
      update.by = in.id<NodeId>();
      return 1;
    case UpdateKind::kLeft: return 0;
    case UpdateKind::kAdvert:
      if (count < 1) in.fail();
      update.advert_version = in.u64();
      return 1;
  }
  return 0;
}

// False for a kind of a newer version, which is passed over.
bool get(Reader& in, Update& update) {
  const auto count = in.array(kFieldsMax);
  if (count < 3) {
    in.fail();
    return false;
  }
  const auto kind = in.u64(UINT8_MAX);
  const bool known = kind <= static_cast<std::uint64_t>(UpdateKind::kAdvert);
  std::size_t read = 1;
  if (known) {
    update.kind = static_cast<UpdateKind>(kind);
    update.id = in.id<NodeId>();
    get(in, update.numbers);
    read = 3 + get_rest(in, count - 3, update);
  }
  for (auto i = read; i < count && in.ok(); ++i) in.skip();
  return known && in.ok();
}

void put(Writer& out, const std::vector<Update>& updates) {
  out.array(updates.size());
  for (const auto& update : updates) put(out, update);
}

void get(Reader& in, std::vector<Update>& updates) {
  const auto count = in.array(limits::kUpdatesPerMessage);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    Update update;
    if (get(in, update)) updates.push_back(std::move(update));
  }
}

void put(Writer& out, const std::optional<Update>& update) {
  if (update) {
    put(out, *update);
  } else {
    out.nil();
  }
}

void get(Reader& in, std::optional<Update>& out) {
  if (in.try_nil()) return;
  Update update;
  if (get(in, update)) out = std::move(update);
}

void get_self(Reader& in, Update& self) {
  if (!get(in, self) || self.kind != UpdateKind::kAlive) in.fail();
}

void put(Writer& out, const SyncEntry& entry) {
  out.array(4).id(entry.id).u64(static_cast<std::uint64_t>(entry.state));
  put(out, entry.numbers);
  out.u64(entry.advert_version);
}

void get(Reader& in, SyncEntry& entry) {
  fields(in, 4, [&] {
    entry.id = in.id<NodeId>();
    entry.state = static_cast<UpdateKind>(in.u64(static_cast<std::uint64_t>(UpdateKind::kLeft)));
    get(in, entry.numbers);
    entry.advert_version = in.u64();
  });
}

Writer& head(Writer& out, Kind kind, std::size_t fields) {
  return out.array(fields + 1).u64(number(kind));
}

std::uint32_t u32(Reader& in) { return static_cast<std::uint32_t>(in.u64(UINT32_MAX)); }

template <typename HelloOrAck>
void write_hello(Writer& out, Kind kind, const HelloOrAck& hello) {
  head(out, kind, 3).u64(hello.round);
  put(out, hello.self);
  put(out, hello.belief);
}

template <typename HelloOrAck>
void read_hello(Reader& in, HelloOrAck& hello) {
  hello.round = in.u64();
  get_self(in, hello.self);
  get(in, hello.belief);
}

void write(Writer& out, const Hello& hello) { write_hello(out, Kind::kHello, hello); }
void write(Writer& out, const HelloAck& ack) { write_hello(out, Kind::kHelloAck, ack); }

void write(Writer& out, const Reject& reject) {
  head(out, Kind::kReject, 3).u64(reject.round).u64(static_cast<std::uint64_t>(reject.reason));
  out.text(reject.text);
}

void write(Writer& out, const Ping& ping) {
  head(out, Kind::kPing, 3).u64(ping.seq).text(ping.endpoint);
  put(out, ping.updates);
}

void write(Writer& out, const Ack& ack) {
  head(out, Kind::kAck, 2).u64(ack.seq);
  put(out, ack.updates);
}

void write(Writer& out, const PingRequest& request) {
  head(out, Kind::kPingRequest, 4).u64(request.seq).id(request.target);
  out.text(request.target_endpoint).u64(request.timeout_ms);
}

void write(Writer& out, const Nack& nack) { head(out, Kind::kNack, 1).u64(nack.seq); }

void write(Writer& out, const Gossip& gossip) {
  head(out, Kind::kGossip, 1);
  put(out, gossip.updates);
}

void write(Writer& out, const SyncDigest& digest) {
  head(out, Kind::kSyncDigest, 2).u64(digest.round).u64(digest.hash);
}

void write(Writer& out, const SyncNeed& need) {
  head(out, Kind::kSyncNeed, 4).u64(need.round).u64(need.chunk).u64(need.chunks);
  out.array(need.entries.size());
  for (const auto& entry : need.entries) put(out, entry);
}

void write(Writer& out, const SyncState& state) {
  head(out, Kind::kSyncState, 5).u64(state.round).boolean(state.answer).boolean(state.last);
  put(out, state.updates);
  out.array(state.wanted.size());
  for (const auto& id : state.wanted) out.id(id);
}

void write(Writer& out, const Leave& leave) {
  head(out, Kind::kLeave, 1);
  put(out, leave.numbers);
}

void write(Writer& out, const AdvertGet& get) {
  head(out, Kind::kAdvertGet, 5).id(get.node).u64(get.incarnation).u64(get.have).u64(get.chunk);
  out.text(get.endpoint);
}

void write(Writer& out, const AdvertChunk& advert) {
  head(out, Kind::kAdvert, 6).id(advert.node).u64(advert.incarnation).u64(advert.version);
  out.u64(advert.chunk).u64(advert.chunks).bin(advert.bytes);
}

void read(Reader& in, Hello& hello) { read_hello(in, hello); }
void read(Reader& in, HelloAck& ack) { read_hello(in, ack); }

void read(Reader& in, Reject& reject) {
  reject.round = in.u64();
  reject.reason = static_cast<RejectReason>(in.u64(UINT8_MAX));
  reject.text = in.text(kReasonBytes);
}

void read(Reader& in, Ping& ping) {
  ping.seq = in.u64();
  ping.endpoint = in.text(limits::kEndpointBytes);
  get(in, ping.updates);
}

void read(Reader& in, Ack& ack) {
  ack.seq = in.u64();
  get(in, ack.updates);
}

void read(Reader& in, PingRequest& request) {
  request.seq = in.u64();
  request.target = in.id<NodeId>();
  request.target_endpoint = in.text(limits::kEndpointBytes);
  request.timeout_ms = u32(in);
}

void read(Reader& in, Nack& nack) { nack.seq = in.u64(); }
void read(Reader& in, Gossip& gossip) { get(in, gossip.updates); }

void read(Reader& in, SyncDigest& digest) {
  digest.round = in.u64();
  digest.hash = in.u64();
}

void read(Reader& in, SyncNeed& need) {
  need.round = in.u64();
  need.chunk = u32(in);
  need.chunks = u32(in);
  const auto count = in.array(limits::kSyncEntries);
  for (std::size_t i = 0; i < count && in.ok(); ++i) get(in, need.entries.emplace_back());
}

void read(Reader& in, SyncState& state) {
  state.round = in.u64();
  state.answer = in.boolean();
  state.last = in.boolean();
  get(in, state.updates);
  const auto count = in.array(limits::kSyncEntries);
  for (std::size_t i = 0; i < count && in.ok(); ++i) state.wanted.push_back(in.id<NodeId>());
}

void read(Reader& in, Leave& leave) { get(in, leave.numbers); }

void read(Reader& in, AdvertGet& get) {
  get.node = in.id<NodeId>();
  get.incarnation = in.u64();
  get.have = in.u64();
  get.chunk = u32(in);
  get.endpoint = in.text(limits::kEndpointBytes);
}

void read(Reader& in, AdvertChunk& advert) {
  advert.node = in.id<NodeId>();
  advert.incarnation = in.u64();
  advert.version = in.u64();
  advert.chunk = u32(in);
  advert.chunks = u32(in);
  advert.bytes = in.bin(limits::kAdvertChunkBytes);
}

template <typename Message>
MemberMessage read_as(Reader& in, std::size_t count, std::size_t known) {
  if (count < known) in.fail();
  Message message;
  read(in, message);
  return message;
}

std::optional<MemberMessage> read_kind(Reader& in, std::uint64_t kind, std::size_t count) {
  switch (static_cast<Kind>(kind)) {
    case Kind::kHello: return read_as<Hello>(in, count, 3);
    case Kind::kHelloAck: return read_as<HelloAck>(in, count, 3);
    case Kind::kReject: return read_as<Reject>(in, count, 3);
    case Kind::kPing: return read_as<Ping>(in, count, 3);
    case Kind::kAck: return read_as<Ack>(in, count, 2);
    case Kind::kPingRequest: return read_as<PingRequest>(in, count, 4);
    case Kind::kNack: return read_as<Nack>(in, count, 1);
    case Kind::kGossip: return read_as<Gossip>(in, count, 1);
    case Kind::kSyncDigest: return read_as<SyncDigest>(in, count, 2);
    case Kind::kSyncNeed: return read_as<SyncNeed>(in, count, 4);
    case Kind::kSyncState: return read_as<SyncState>(in, count, 5);
    case Kind::kLeave: return read_as<Leave>(in, count, 1);
    case Kind::kAdvertGet: return read_as<AdvertGet>(in, count, 5);
    case Kind::kAdvert: return read_as<AdvertChunk>(in, count, 6);
    default: return {};
  }
}

}  // namespace

bool Update::operator==(const Update& other) const {
  const bool same_about = about == other.about || (about && other.about && *about == *other.about);
  return kind == other.kind && id == other.id && numbers == other.numbers && by == other.by &&
         advert_version == other.advert_version && same_about;
}

Bytes encode_member(const MemberMessage& message) {
  Bytes bytes;
  Writer out(bytes);
  std::visit([&](const auto& m) { write(out, m); }, message);
  return bytes;
}

Result<MemberMessage> decode_member(BytesView message) {
  if (message.size() > limits::kFrameBytes) {
    return fail(Code::kProtocol, "membership message of " + std::to_string(message.size()) +
                                     " bytes is longer than a frame may be");
  }
  Reader in(message);
  const auto count = in.array(kFieldsMax);
  if (count == 0) in.fail();
  const auto kind = in.u64(UINT8_MAX);
  auto decoded = in.ok() ? read_kind(in, kind, count - 1) : std::nullopt;
  if (!decoded) {
    return fail(Code::kProtocol, "kind " + std::to_string(kind) + " is no membership message");
  }
  if (!in.ok()) {
    return fail(Code::kProtocol, "membership message of kind " + std::to_string(kind) +
                                     " is cut short or breaks a limit");
  }
  return std::move(*decoded);
}

std::size_t encoded_size(const Update& update) {
  Bytes bytes;
  Writer out(bytes);
  put(out, update);
  return bytes.size();
}

}  // namespace headrace::wire
