#include "nodes/runtime/remembered.h"

#include "core/base/limits.h"
#include "core/store/meta.h"
#include "core/wire/codec.h"

namespace headrace::runtime {

std::vector<std::string> remembered_peers(const Snapshot& snapshot) {
  const auto bytes = meta::peers(snapshot).value_or(Bytes{});
  std::vector<std::string> endpoints;
  if (bytes.empty()) return endpoints;
  wire::Reader in(bytes);
  for (auto left = in.array(limits::kSeeds); left > 0 && in.ok(); --left) {
    endpoints.emplace_back(in.text(limits::kEndpointBytes));
  }
  if (!in.ok()) endpoints.clear();
  return endpoints;
}

}  // namespace headrace::runtime
