// Raw bytes. A Bytes owns, a BytesView looks at somebody else's and must not outlive them.
//
// std::string rather than a vector of std::byte: it appends fast, keeps 15 bytes without an allocation, and
// is what LevelDB, ZeroMQ and msgpack take. Nothing in Headrace assumes that Bytes are text.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

using Bytes = std::string;
using BytesView = std::string_view;

}  // namespace headrace
