// `headrace pub`: publishes one event.
#include <iostream>

#include "core/base/limits.h"
#include "core/topic/topic.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/json.h"
#include "tools/cli/reach.h"

namespace headrace::cli {

int run_pub(const Arguments& arguments) {
  Options options("pub", "TOPIC [OPTION...]",
                  "Publishes an event to all who registered for its topic.");
  options.positional("topic");
  options.add()("param,p", po::value<std::vector<std::string>>()->value_name("KEY=TEXT"),
                "a parameter, as text; KEY:=JSON for any other type; may be repeated")(
      "payload", po::value<std::string>()->value_name("FILE"), "the payload; - is standard input");
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;

  const auto topic = options.text("topic");
  if (const auto good = Topic::check(topic); !good) return options.wrong(good.error().message);
  const auto params = parse_params(options.all("param"));
  if (!params) return options.wrong(params.error().message);
  Result<Bytes> payload = Bytes();
  if (options.has("payload")) {
    payload = read_payload(options.text("payload"), limits::kEventPayloadBytes);
  }
  if (!payload) return failure(payload.error());

  auto client = reach(options);
  if (!client) return ended(options, client.error());
  const auto published = client->publish(topic, *params, *payload);
  if (!published) return ended(options, published.error());
  if (options.json()) {
    std::cout << line({{"id", published->id.hex()},
                       {"destinations", published->destinations},
                       {"dropped", published->dropped}})
              << '\n';
  } else {
    std::cout << "published " << published->id.hex() << " to " << published->destinations
              << (published->destinations == 1 ? " node" : " nodes");
    if (published->dropped > 0) std::cout << ", dropped for " << published->dropped;
    std::cout << '\n';
  }
  return kDone;
}

}  // namespace headrace::cli
