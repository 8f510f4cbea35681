// What a node was opened with and does not change while it lives: its options, checked, and who it
// is.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/store/leveldb_store.h"
#include "nodes/node.h"
#include "nodes/runtime/identity.h"
#include "transport/endpoint.h"
#include "transport/transport.h"

namespace headrace::runtime {

// What only the programs and tests of Headrace itself ask for.
struct InternalOptions {
  // Takes the notes of the log, on any thread; must not wait. Unset: standard error, if
  // HEADRACE_LOG is set.
  std::function<void(const std::string&)> note{};
  unsigned callback_threads = 2;  // for events and the answers of add_async
  LevelDbOptions store{};
  std::shared_ptr<transport::Traffic> traffic{};  // counts there, if set
};

// As Node::open, for those programs.
Result<Node> open_node(NodeOptions options, InternalOptions internal);

struct Setup {
  NodeOptions options;
  InternalOptions internal;
  Identity identity;
  transport::Endpoint listen;  // as asked for
  std::string control;         // what others dial
  std::string data;
  std::uint64_t cluster = 0;      // wire::cluster_hash
  std::uint16_t beacon_port = 0;  // 0: none

  bool keeps() const { return !options.data.empty(); }
};

// Checks `options` and fills in what needs no disk and no socket. kInvalid, kForbidden, naming the
// value and the way out.
Result<Setup> make_setup(NodeOptions options, InternalOptions internal);

// Where others reach a socket bound to `bound`: the same, or if that means all interfaces, the
// machine's first address that is not loopback.
transport::Endpoint reachable(const transport::Endpoint& bound);

}  // namespace headrace::runtime
