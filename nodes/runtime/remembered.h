// Whom the last start of this node knew, as its Peer wrote it down.
#pragma once

#include <string>
#include <vector>

#include "core/store/store.h"

namespace headrace::runtime {

// Control endpoints. Empty if nothing readable is there: a node finds the others by its seeds too.
std::vector<std::string> remembered_peers(const Snapshot& snapshot);

}  // namespace headrace::runtime
