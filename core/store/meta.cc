#include "core/store/meta.h"

#include <algorithm>

#include "core/store/keys.h"
#include "core/store/record.h"

namespace headrace::meta {

namespace {

constexpr std::string_view kFormat = "format";
constexpr std::string_view kIncarnation = "incarnation";
constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kPeers = "peers";

constexpr std::uint8_t kRecordVersion = 1;

tl::unexpected<Error> unreadable(std::string_view name, const std::string& why) {
  return fail(Code::kStore, "the stored " + std::string(name) + " cannot be read: " + why);
}

Result<std::optional<Bytes>> get(const Snapshot& snapshot, std::string_view name) {
  auto sealed = snapshot.get(keys::meta(name));
  if (!sealed || !*sealed) return sealed;
  const auto opened = record::open(**sealed);
  if (!opened) return unreadable(name, opened.error().message);
  if (opened->version != kRecordVersion) {
    return unreadable(name, "record version " + std::to_string(opened->version) + " is unknown");
  }
  return Bytes(opened->body);
}

void put(WriteBatch& batch, std::string_view name, BytesView body) {
  record::put(batch, keys::meta(name), kRecordVersion, body);
}

Result<std::optional<std::uint64_t>> get_number(const Snapshot& snapshot, std::string_view name) {
  const auto body = get(snapshot, name);
  if (!body) return fail(body.error());
  if (!*body) return std::nullopt;
  if ((*body)->size() != 8) return unreadable(name, "it is not a number of 8 bytes");
  std::uint64_t number = 0;
  for (const char byte : **body) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

void put_number(WriteBatch& batch, std::string_view name, std::uint64_t number) {
  Bytes body;
  for (unsigned i = 0; i < 8; ++i) body.push_back(static_cast<char>(number >> (56 - 8 * i)));
  put(batch, name, body);
}

Result<Bytes> get_or_empty(const Snapshot& snapshot, std::string_view name) {
  auto body = get(snapshot, name);
  if (!body) return fail(body.error());
  return std::move(*body).value_or(Bytes{});
}

}  // namespace

Result<std::optional<std::uint64_t>> format_version(const Snapshot& snapshot) {
  return get_number(snapshot, kFormat);
}
void set_format_version(WriteBatch& batch, std::uint64_t version) {
  put_number(batch, kFormat, version);
}

Result<Incarnation> last_incarnation(const Snapshot& snapshot) {
  const auto number = get_number(snapshot, kIncarnation);
  if (!number) return fail(number.error());
  return number->value_or(0);
}
void set_last_incarnation(WriteBatch& batch, Incarnation incarnation) {
  put_number(batch, kIncarnation, incarnation);
}
Incarnation next_incarnation(Incarnation last, WallTime now) {
  const auto millis = std::chrono::duration_cast<Millis>(now.time_since_epoch()).count();
  return std::max(last + 1, static_cast<Incarnation>(std::max<Millis::rep>(millis, 0)));
}

Result<Bytes> identity(const Snapshot& snapshot) { return get_or_empty(snapshot, kIdentity); }
void set_identity(WriteBatch& batch, BytesView identity) { put(batch, kIdentity, identity); }
Result<Bytes> peers(const Snapshot& snapshot) { return get_or_empty(snapshot, kPeers); }
void set_peers(WriteBatch& batch, BytesView peers) { put(batch, kPeers, peers); }

}  // namespace headrace::meta
