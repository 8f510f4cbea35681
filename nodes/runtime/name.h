// A node's name when it was given none: two words that follow from its id, as in brisk-otter. For
// people; many nodes may share one.
#pragma once

#include <string>

#include "core/base/ids.h"

namespace headrace::runtime {

std::string name_of(const NodeId& id);

}  // namespace headrace::runtime
