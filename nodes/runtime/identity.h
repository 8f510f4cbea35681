// Who a node is: a CURVE key pair of its own, and the NodeId that follows from it.
//
// A node with a data directory makes its pair once and keeps it in the file `identity.key` there,
// readable by its owner alone. A node without one is somebody new at each start. Call while the
// directory is held (LevelDbStore); blocks on the disk.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"

namespace headrace::runtime {

struct Identity {
  NodeId id;               // the first 16 bytes of the BLAKE2b-256 of the public key's 32
  std::string public_key;  // Z85, 40 characters, as libzmq takes them
  std::string secret_key;
  Bytes key_bytes() const;  // the public key's 32
};

Result<Identity> make_identity();

// Reads it, or makes it where there is none yet: the file appears whole or not at all, and durably.
// kStore if the file is damaged or the disk fails; a damaged file is left as it is.
Result<Identity> keep_identity(const std::filesystem::path& directory);

}  // namespace headrace::runtime
