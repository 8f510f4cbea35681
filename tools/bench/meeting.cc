#include "tools/bench/meeting.h"

#include "core/base/check.h"
#include "tools/bench/process.h"

namespace headrace::bench {

void MeetingPoint::tell(const std::string& where) {
  HEADRACE_CHECK(where.size() < endpoint.size());
  where.copy(endpoint.data(), where.size());
  told.store(1, std::memory_order_release);
}

Result<std::string> MeetingPoint::wait() const {
  if (auto there = await(told, 1, kStart, "the first node to open"); !there) {
    return fail(there.error());
  }
  return std::string(endpoint.data());
}

Result<Node> join(const MeetingPoint& point) {
  auto endpoint = point.wait();
  if (!endpoint) return fail(endpoint.error());
  NodeOptions options;
  options.join = {*endpoint};
  auto node = Node::open(std::move(options));
  if (!node) return node;
  if (auto ready = node->wait_ready(kStart); !ready) return fail(ready.error());
  return node;
}

}  // namespace headrace::bench
