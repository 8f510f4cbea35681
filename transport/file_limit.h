// A node needs descriptors: about three for each lane to each peer. The usual soft limit of 1,024
// ends at some 150 peers.
#pragma once

#include <cstddef>

namespace headrace::transport {

// Raises the soft limit of open files to the hard one, and returns the limit that then holds. Never
// fails: what can't be raised stays. Process-wide; call it once at start, from main or when the
// first node opens.
std::size_t raise_file_limit();

}  // namespace headrace::transport
