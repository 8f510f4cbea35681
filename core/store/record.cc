#include "core/store/record.h"

#include <zlib.h>

#include <array>

namespace headrace::record {

namespace {

using Head = std::array<char, kHeadBytes>;

Head head_of(std::uint8_t version, BytesView body) {
  auto sum = crc32_z(0, &version, 1);
  // Without this zlib would take a null body for "give me the initial value".
  if (!body.empty()) sum = crc32_z(sum, reinterpret_cast<const Bytef*>(body.data()), body.size());
  Head head{static_cast<char>(version)};
  for (unsigned i = 0; i < 4; ++i) head[1 + i] = static_cast<char>(sum >> (24 - 8 * i));
  return head;
}

}  // namespace

Bytes seal(std::uint8_t version, BytesView body) {
  const auto head = head_of(version, body);
  Bytes sealed;
  sealed.reserve(head.size() + body.size());
  sealed.append(head.data(), head.size()).append(body);
  return sealed;
}

void put(WriteBatch& batch, BytesView key, std::uint8_t version, BytesView body) {
  const auto head = head_of(version, body);
  batch.put(key, {head.data(), head.size()}, body);
}

Result<Opened> open(BytesView sealed) {
  if (sealed.size() < kHeadBytes) {
    return fail(Code::kStore, "a stored record of " + std::to_string(sealed.size()) +
                                  " bytes is too short to be one");
  }
  const auto version = static_cast<std::uint8_t>(sealed.front());
  const auto body = sealed.substr(kHeadBytes);
  const auto head = head_of(version, body);
  if (BytesView{head.data(), head.size()} != sealed.substr(0, kHeadBytes)) {
    return fail(Code::kStore, "the checksum of a stored record of " +
                                  std::to_string(sealed.size()) + " bytes does not match");
  }
  return Opened{version, body};
}

}  // namespace headrace::record
