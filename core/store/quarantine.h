// What cannot be read is set aside, never deleted and never met again: one unreadable row must not
// stop the rows behind it. Pure functions; the batch is the caller's.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/store/store.h"

namespace headrace {

// Moves the row to the quarantine space in one step, with the reason, cut to 2,000 bytes.
void quarantine(WriteBatch& batch, BytesView key, BytesView value, std::string_view reason);

struct Quarantined {
  BytesView reason;  // both look into the stored value
  BytesView value;
};
Result<Quarantined> open_quarantined(BytesView stored);

// Walks the whole space; nothing ever deletes from it but an operator.
Result<std::uint64_t> count_quarantined(const Snapshot& snapshot);

}  // namespace headrace
