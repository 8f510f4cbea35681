// `headrace job list`: the jobs in a node's store.
#include <iostream>

#include "core/base/limits.h"
#include "core/topic/topic_pattern.h"
#include "tools/cli/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/reach.h"
#include "tools/cli/table.h"

namespace headrace::cli {

int run_job_list(const Arguments& arguments) {
  Options options("job list", "[OPTION...]", "Lists the jobs in the node's store, oldest first.");
  options.add()("state", po::value<std::string>()->value_name("STATE"),
                "only QUEUED, DELAYED, ACTIVE, SUCCEEDED, STOPPED, GIVEN_UP, ERROR, DROPPED or "
                "EXPIRED ones")("topic", po::value<std::string>()->value_name("TOPIC"),
                                "only those of a topic or a pattern")(
      "limit", number_value(100),
      ("at most N, up to " + std::to_string(limits::kFindLimit)).c_str());
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;
  JobFilter filter;
  if (options.has("state")) {
    const auto state = parse_job_state(options.text("state"));
    if (!state) return options.wrong(state.error().message);
    filter.state = *state;
  }
  if (options.has("topic")) {
    const auto pattern = TopicPattern::parse(options.text("topic"));
    if (!pattern) return options.wrong(pattern.error().message);
    filter.topic = pattern->text();
  }
  const auto limit = options.number("limit", 1, limits::kFindLimit);
  if (!limit) return options.wrong(limit.error().message);
  filter.limit = *limit;

  auto client = reach(options);
  if (!client) return ended(options, client.error());
  const auto jobs = client->find(filter);
  if (!jobs) return ended(options, jobs.error());
  if (options.json()) {
    Json rows = Json::array();
    for (const auto& job : *jobs) rows.push_back(to_json(job));
    std::cout << line(rows) << '\n';
    return kDone;
  }
  std::vector<std::vector<std::string>> rows{
      {"ID", "STATE", "PRIORITY", "ATTEMPT", "ADDED", "TOPIC", "ERROR"}};
  for (const auto& job : *jobs) {
    rows.push_back({job.id.hex(), std::string(to_string(job.state)), std::to_string(job.priority),
                    std::to_string(job.attempt), format_rfc3339(job.added), job.topic,
                    cell(job.error)});
  }
  std::cout << table(rows);
  return kDone;
}

}  // namespace headrace::cli
