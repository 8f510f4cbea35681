// What a node knows of itself, kept under names in the meta space: typed, one function each way.
//
// Reading fails with kStore, naming the fact, if what is stored cannot be read. Writing goes into
// the caller's batch. Any thread that may use the snapshot or the batch.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/store/store.h"

namespace headrace::meta {

// Of the whole layout on disk. Raised when an older program would misread a store.
inline constexpr std::uint64_t kFormatVersion = 1;

Result<std::optional<std::uint64_t>> format_version(const Snapshot& snapshot);
void set_format_version(WriteBatch& batch, std::uint64_t version);

// The incarnation of the last start; 0 before the first.
Result<Incarnation> last_incarnation(const Snapshot& snapshot);
void set_last_incarnation(WriteBatch& batch, Incarnation incarnation);
// What this start is to be called: above the last one even if the clock went backwards.
Incarnation next_incarnation(Incarnation last, WallTime now);

// Who this node is and whom it remembers: bytes that member and peer give a meaning; empty if never
// set.
Result<Bytes> identity(const Snapshot& snapshot);
void set_identity(WriteBatch& batch, BytesView identity);
Result<Bytes> peers(const Snapshot& snapshot);
void set_peers(WriteBatch& batch, BytesView peers);

}  // namespace headrace::meta
