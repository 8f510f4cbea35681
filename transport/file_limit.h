// A node needs descriptors: about three for each lane to each peer. The usual soft limit of 1,024
// ends at some 150 peers.
#pragma once

#include <cstddef>

#include "core/base/error.h"

namespace headrace::transport {

// Raises the soft limit of open files to the hard one, and returns the limit that then holds. Never
// fails: what can't be raised stays. Process-wide; call it once at start, from main or when the
// first node opens.
std::size_t raise_file_limit();

// Whether `count` more can be opened now, and what to do if not: libzmq ends the process when it
// finds none while it starts its threads, so ask before. kFull.
Result<void> check_descriptors(std::size_t count);

// Whether fewer than `reserve` are left. Cheap enough to be asked before each dial.
bool descriptors_run_out(std::size_t reserve);

}  // namespace headrace::transport
