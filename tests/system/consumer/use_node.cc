// Opens a node, hears its own event, and leaves.
#include <headrace/node.h>

#include <future>

int main() {
  auto node = headrace::Node::open({.name = "consumer"});
  if (!node) return 1;
  std::promise<void> heard;
  auto registration =
      node->on("installed.tree", [&](const headrace::Event&) { heard.set_value(); });
  if (!registration || !node->publish("installed.tree")) return 2;
  bool in_time = heard.get_future().wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  return in_time && node->close() ? 0 : 3;
}
