// `headrace sub`: prints events as they come, one line each, until interrupted.
#include <csignal>
#include <iostream>

#include "core/topic/topic_pattern.h"
#include "tools/cli/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/reach.h"
#include "tools/cli/table.h"

namespace headrace::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void print(const ClientEvent& event, bool json) {
  if (json) {
    std::cout << line(to_json(event)) << std::endl;
    return;
  }
  std::cout << format_rfc3339(event.time) << ' ' << event.topic;
  if (!event.params.empty()) std::cout << ' ' << line(to_json(event.params));
  if (!event.payload.empty()) std::cout << ' ' << cell(event.payload);
  std::cout << std::endl;
}

int follow(const Options& options, ClientSubscription& events, std::uint64_t count) {
  std::uint64_t dropped = 0;
  for (std::uint64_t seen = 0; count == 0 || seen < count;) {
    const auto event = events.next(Millis{100});
    if (!event) return failure(event.error());
    if (events.dropped() != dropped) {
      dropped = events.dropped();
      std::cerr << "headrace: " << dropped << " events dropped so far: the output is too slow\n";
    }
    if (*event) {
      print(**event, options.json());
      ++seen;
    } else if (interrupted != 0) {
      break;
    }
    if (!std::cout) return failure({Code::kInternal, "cannot write the output"});
  }
  return kDone;
}

}  // namespace

int run_sub(const Arguments& arguments) {
  Options options("sub", "TOPIC [OPTION...]",
                  "Prints events of a topic or a pattern, one a line, until interrupted.\n"
                  "Ready once `subscribed` stands on stderr.");
  options.positional("topic");
  options.add()("sink", "also events that a more specific topic was registered for")(
      "count", number_value(0), "end after N events; 0: never");
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;
  const auto topic = options.text("topic");
  if (const auto good = TopicPattern::parse(topic); !good) {
    return options.wrong(good.error().message);
  }
  const auto count = options.number("count", 0, INT64_MAX);
  if (!count) return options.wrong(count.error().message);
  const auto interrupt = [](int) { interrupted = 1; };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);

  auto client = reach(options);
  if (!client) return ended(options, client.error());
  auto events = client->subscribe(topic, {.sink = options.has("sink")});
  if (!events) return ended(options, events.error());
  std::cerr << "subscribed\n";
  return follow(options, *events, *count);
}

}  // namespace headrace::cli
