// The envelope of every stored value: a version byte, a CRC-32 over version and body, the body.
//
// LevelDB checks its blocks; this checks the value from the moment it was made, and says which
// layout of the body to read. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/store/batch.h"

namespace headrace::record {

inline constexpr std::size_t kHeadBytes = 5;

struct Opened {
  std::uint8_t version = 0;
  BytesView body;  // looks into the sealed bytes
};

Bytes seal(std::uint8_t version, BytesView body);
// The same as batch.put(key, seal(version, body)), without the copy.
void put(WriteBatch& batch, BytesView key, std::uint8_t version, BytesView body);
// kStore if it is too short or the checksum differs. An unknown version is for the caller to judge.
Result<Opened> open(BytesView sealed);

}  // namespace headrace::record
