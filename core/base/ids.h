// 128-bit identities as strong types: a NodeId is never taken for a JobId.
// Text form: 32 lower-case hex digits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/endian.h"
#include "core/base/error.h"

namespace headrace {

std::string to_hex(BytesView bytes);
// kInvalid unless `hex` is exactly 2 * size hex digits.
Result<Bytes> from_hex(std::string_view hex, std::size_t size);

template <typename Tag>
struct Id128 {
  std::array<unsigned char, 16> bytes{};

  static Id128 from_halves(std::uint64_t high, std::uint64_t low) {
    Id128 id;
    store_big_endian(id.bytes.data(), high);
    store_big_endian(id.bytes.data() + 8, low);
    return id;
  }
  // `raw` must hold 16 bytes.
  static Id128 from_raw(BytesView raw) {
    Id128 id;
    std::memcpy(id.bytes.data(), raw.data(), id.bytes.size());
    return id;
  }
  static Result<Id128> parse(std::string_view hex) {
    auto raw = from_hex(hex, 16);
    if (!raw) return fail(raw.error());
    return from_raw(*raw);
  }

  std::uint64_t high() const { return load_big_endian<std::uint64_t>(bytes.data()); }
  std::uint64_t low() const { return load_big_endian<std::uint64_t>(bytes.data() + 8); }
  bool is_zero() const { return *this == Id128{}; }
  std::string hex() const { return to_hex(raw()); }
  BytesView raw() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

  auto operator<=>(const Id128&) const = default;
};

using NodeId = Id128<struct NodeTag>;
using JobId = Id128<struct JobTag>;
using EventId = Id128<struct EventTag>;

// Grows at each start of a node: max(persisted + 1, wall clock in ms).
using Incarnation = std::uint64_t;

}  // namespace headrace

template <typename Tag>
struct std::hash<headrace::Id128<Tag>> {
  std::size_t operator()(const headrace::Id128<Tag>& id) const noexcept {
    return static_cast<std::size_t>(id.high() * 0x9E3779B97F4A7C15ULL ^ id.low());
  }
};
