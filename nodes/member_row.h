// A row of members as the Peer and the wire have it, as what programs see.
#pragma once

#include <utility>

#include "core/wire/call.h"
#include "nodes/node.h"

namespace headrace {

// `now`: by the clock of whoever asks; clocks of two machines are never compared.
inline Member to_member(wire::MemberRow row, WallTime now) {
  return {row.id,
          std::move(row.name),
          std::move(row.state),
          std::move(row.endpoint),
          row.incarnation,
          {row.tags.begin(), row.tags.end()},
          std::move(row.data_endpoint),
          row.advert_version,
          now - row.age,
          row.round_trip};
}

}  // namespace headrace
