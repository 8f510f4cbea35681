// Caller: who made a call and waits for its answer.
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace headrace {

struct Caller {
  enum class Kind : std::uint8_t { kProgram, kClient, kNode };

  Kind kind = Kind::kProgram;
  std::uint64_t call = 0;  // the caller's own number
  NodeId node{};
  Bytes client{};        // routing id
  Incarnation life = 0;  // of the node: its next life numbers its calls anew

  bool operator==(const Caller&) const = default;
  // The same for all calls that are numbered together.
  Bytes source() const {
    if (kind == Kind::kClient) return client;
    Bytes bytes(node.raw());
    return bytes.append(reinterpret_cast<const char*>(&life), sizeof life);
  }
};

}  // namespace headrace
