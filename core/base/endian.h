// Numbers as they stand in keys, ids and msgpack: big-endian.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace headrace {

// The same bytes in the other order on a little-endian machine: to and from big-endian alike.
template <std::unsigned_integral T>
constexpr T big_endian(T value) {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    static_assert(sizeof(T) == 8);
    return __builtin_bswap64(value);
  }
}

// `at` holds sizeof(T) bytes, which need not be aligned.
template <std::unsigned_integral T>
T load_big_endian(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return big_endian(value);
}

template <std::unsigned_integral T>
void store_big_endian(void* at, T value) {
  value = big_endian(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace headrace
