// `headrace members`: the nodes that a node knows.
#include <iostream>

#include "tools/cli/commands.h"
#include "tools/cli/json.h"
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

}  // namespace

int run_members(const Arguments& arguments) {
  Options options("members", "[OPTION...]",
                  "Lists the nodes of the cluster as one of them sees it.");
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;
  auto client = reach(options);
  if (!client) return ended(options, client.error());
  const auto members = client->members();
  if (!members) return ended(options, members.error());
  if (options.json()) {
    Json rows = Json::array();
    for (const auto& member : *members) rows.push_back(to_json(member));
    std::cout << line(rows) << '\n';
    return kDone;
  }
  std::vector<std::vector<std::string>> rows{{"NAME", "STATE", "ENDPOINT", "ID", "TAGS"}};
  for (const auto& member : *members) {
    rows.push_back({cell(member.name), cell(member.state), cell(member.endpoint), member.id.hex(),
                    cell(tags_of(member))});
  }
  std::cout << table(rows);
  return kDone;
}

}  // namespace headrace::cli
