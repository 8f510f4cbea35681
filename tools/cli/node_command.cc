// `headrace node`: a daemon.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "core/base/utf8.h"
#include "nodes/runtime/setup.h"
#include "nodes/runtime/signals.h"
#include "tools/cli/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/options.h"
#include "transport/endpoint.h"

namespace headrace::cli {
namespace {

constexpr std::uint16_t kPort = 7420;
constexpr Millis kDrain{5000};

void declare(Options& options) {
  options.add()("name", po::value<std::string>()->value_name("NAME"),
                "a name for people; by default two words made from its id")(
      "data", po::value<std::string>()->value_name("DIR"),
      "its data directory; by default $XDG_STATE_HOME/headrace or ~/.local/state/headrace")(
      "listen", po::value<std::string>()->value_name("ENDPOINT"),
      "where to listen; by default tcp://127.0.0.1:7420, or a free port if that is taken")(
      "join", po::value<std::vector<std::string>>()->value_name("ENDPOINT"),
      "a node to join the cluster through; may be repeated")(
      "cluster", po::value<std::string>()->default_value("default")->value_name("NAME"),
      "nodes of another cluster are not heard")(
      "lan", "listen on all interfaces, and be found on the network")(
      "no-beacon", "find others, and be found, by --join alone")(
      "beacon-port", number_value(0),
      "UDP, the same in all nodes; 0: $HEADRACE_BEACON (a port, or off), else 7420")(
      "insecure", "allow others than this machine to connect, without any security");
}

Result<std::filesystem::path> data_directory(const Options& options) {
  if (options.has("data")) {
    if (options.text("data").empty()) return fail(Code::kInvalid, "option --data: names nothing");
    return options.text("data");
  }
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  // A relative one is to be ignored, says the specification of these directories.
  if (const auto state = variable("XDG_STATE_HOME"); state.is_absolute()) return state / "headrace";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".local/state/headrace";
  return fail(Code::kInvalid,
              "no place for its data: neither XDG_STATE_HOME nor HOME is set; "
              "name one with --data DIR");
}

Result<transport::Endpoint> listen_endpoint(const Options& options) {
  const bool lan = options.has("lan");
  if (lan && options.has("listen")) {
    return fail(Code::kInvalid, "--lan and --listen exclude each other");
  }
  transport::Endpoint endpoint{lan ? "*" : "127.0.0.1", kPort};
  if (options.has("listen")) {
    auto parsed = transport::Endpoint::parse(options.text("listen"));
    if (!parsed) return parsed;
    endpoint = std::move(*parsed);
  }
  return endpoint;
}

Result<NodeOptions> node_options(const Options& options) {
  NodeOptions node;
  if (options.has("name")) node.name = options.text("name");
  node.cluster = options.text("cluster");
  node.join = options.all("join");
  node.insecure = options.has("insecure");
  node.lan = options.has("lan");
  node.beacon = !options.has("no-beacon");
  const auto port = options.number("beacon-port", 0, UINT16_MAX);
  if (!port) return fail(port.error());
  node.beacon_port = static_cast<std::uint16_t>(*port);
  auto data = data_directory(options);
  if (!data) return fail(data.error());
  node.data = std::move(*data);
  auto listen = listen_endpoint(options);
  if (!listen) return fail(listen.error());
  node.listen = listen->text();
  return node;
}

void print_note(const std::string& text) {
  const auto now = std::chrono::floor<Micros>(std::chrono::system_clock::now());
  // One write a line: notes come from several threads.
  std::cerr << format_rfc3339(now) + ' ' + text + '\n';
}

// The usual port, or a free one if that is taken and nobody asked for it.
Result<Node> open(NodeOptions node, bool any_port) {
  const runtime::InternalOptions internal{.note = print_note};
  auto opened = runtime::open_node(node, internal);
  if (opened || !any_port || opened.error().code != Code::kInUse) return opened;
  // It was the data directory that is in use, if this fails likewise.
  auto endpoint = transport::Endpoint::parse(node.listen).value();
  endpoint.port = 0;
  node.listen = endpoint.text();
  return runtime::open_node(std::move(node), internal);
}

void print_ready(const Node& node, bool json) {
  if (json) {
    std::cout << line({{"name", node.name()}, {"id", node.id().hex()}, {"listen", node.endpoint()}})
              << std::endl;
  } else {
    std::cout << "ready name=" << node.name() << " id=" << node.id().hex()
              << " listen=" << node.endpoint() << std::endl;
  }
}

}  // namespace

int run_node(const Arguments& arguments) {
  Options options("node", "[OPTION...]",
                  "Runs a node until SIGINT or SIGTERM; prints one line when it is ready.");
  declare(options);
  if (const auto code = options.parse(arguments)) return *code;
  auto chosen = node_options(options);
  if (!chosen) return options.wrong(chosen.error().message);
  const auto checked = runtime::make_setup(*chosen, {});
  if (!checked) return options.wrong(checked.error().message);
  // From here on, so that a signal between the ready line and run() ends the node as well as later.
  auto watch = runtime::SignalWatch::start();
  if (!watch) return failure(watch.error());
  std::optional<runtime::SignalWatch> signals(std::move(*watch));
  auto node = open(std::move(*chosen), !options.has("listen"));
  if (!node) return failure(node.error());
  print_ready(*node, options.json());
  if (const auto ran = node->run(); !ran) return failure(ran.error());
  signals.reset();  // a second one ends the program at once
  if (const auto closed = node->close(kDrain); !closed) return failure(closed.error());
  return kDone;
}

}  // namespace headrace::cli
