// `headrace members`: the nodes that a node knows, once or as they change.
#include <csignal>
#include <iostream>

#include "tools/cli/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/members_watch.h"
#include "tools/cli/reach.h"
#include "tools/cli/table.h"

namespace headrace::cli {
namespace {

std::string tags_of(const Member& member) {
  std::string text;
  for (const auto& [name, value] : member.tags) {
    text += (text.empty() ? "" : ",") + name + "=" + value;
  }
  return text;
}

constexpr Millis kStep{100};      // the longest that an interrupt waits
constexpr int kStepsPerLook = 5;  // an event of `$sys.member` makes us look at once
constexpr Millis kAnswerTime{1000};
constexpr int kSilentLooks = 5;  // before it is said that the node does not answer

volatile std::sig_atomic_t interrupted = 0;

WallTime now() { return std::chrono::floor<Micros>(std::chrono::system_clock::now()); }

// How long, in the largest unit that gives a whole number to go by: 850ms, 12s, 7m, 3h, 2d.
std::string age(WallTime since) {
  const auto ms = std::max<std::int64_t>(std::chrono::floor<Millis>(now() - since).count(), 0);
  if (ms < 1'000) return std::to_string(ms) + "ms";
  if (ms < 120'000) return std::to_string(ms / 1'000) + "s";
  if (ms < 7'200'000) return std::to_string(ms / 60'000) + "m";
  if (ms < 172'800'000) return std::to_string(ms / 3'600'000) + "h";
  return std::to_string(ms / 86'400'000) + "d";
}

std::string round_trip(const Member& member) {
  if (!member.round_trip) return "-";
  const auto us = member.round_trip->count();
  if (us < 10'000) return std::to_string(us) + "us";
  return std::to_string(us / 1'000) + "ms";
}

void print_table(const std::vector<Member>& members) {
  std::vector<std::vector<std::string>> rows{
      {"NAME", "STATE", "SINCE", "RTT", "ENDPOINT", "ID", "ADVERT", "TAGS"}};
  for (const auto& member : members) {
    rows.push_back({cell(member.name), cell(member.state), age(member.since), round_trip(member),
                    cell(member.endpoint), member.id.hex(), std::to_string(member.advert_version),
                    cell(tags_of(member))});
  }
  std::cout << table(rows);
}

void print(const MemberChange& change, bool json) {
  if (json) {
    auto object = to_json(change);
    object["time"] = format_rfc3339(now());
    std::cout << line(object) << std::endl;
    return;
  }
  std::cout << format_rfc3339(now()) << ' ' << cell(change.member.name) << ' '
            << to_string(change.what) << ' ';
  if (change.what == MemberChange::What::kState) std::cout << cell(change.before) << " -> ";
  std::cout << cell(change.member.state) << ' ' << cell(change.member.endpoint) << ' '
            << change.member.id.hex() << std::endl;
}

// Until an event says that something has changed, or it is time to look again.
Result<void> wait_for_news(ClientSubscription& events) {
  for (int step = 0; step < kStepsPerLook && interrupted == 0; ++step) {
    auto event = events.next(kStep);
    if (!event) return fail(event.error());
    if (!*event) continue;
    while (event && *event) event = events.next(Millis{0});
    return {};
  }
  return {};
}

int watch(const Options& options, Client& client) {
  const auto interrupt = [](int) { interrupted = 1; };
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  auto events = client.subscribe("$sys.member.>");
  if (!events) return ended(options, events.error());
  MembersWatch seen;
  for (int silent = 0; interrupted == 0;) {
    const auto members = client.members(kAnswerTime);
    if (members) {
      silent = 0;
      for (const auto& change : seen.changes(*members)) print(change, options.json());
      if (!std::cout) return failure({Code::kInternal, "cannot write the output"});
    } else if (++silent == kSilentLooks) {
      std::cerr << "headrace: " << members.error().message << "; going on trying\n";
    }
    if (const auto waited = wait_for_news(*events); !waited) return failure(waited.error());
  }
  return kDone;
}

}  // namespace

int run_members(const Arguments& arguments) {
  Options options("members", "[OPTION...]",
                  "Lists the nodes of the cluster as one of them sees it.");
  options.add()("watch", "a line for each node, then one for each change, until interrupted");
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;
  auto client = reach(options);
  if (!client) return ended(options, client.error());
  if (options.has("watch")) return watch(options, *client);
  const auto members = client->members();
  if (!members) return ended(options, members.error());
  if (options.json()) {
    Json rows = Json::array();
    for (const auto& member : *members) rows.push_back(to_json(member));
    std::cout << line(rows) << '\n';
  } else {
    print_table(*members);
  }
  return kDone;
}

}  // namespace headrace::cli
