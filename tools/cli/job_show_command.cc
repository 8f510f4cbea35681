// `headrace job show`: everything about one job.
#include <iostream>

#include "tools/cli/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/reach.h"
#include "tools/cli/table.h"

namespace headrace::cli {
namespace {

std::string block(const JobInfo& job) {
  std::vector<std::vector<std::string>> rows;
  const auto row = [&rows](const char* name, std::string value) {
    rows.push_back({name, std::move(value)});
  };
  const auto time = [&row](const char* name, const std::optional<WallTime>& at) {
    if (at) row(name, format_rfc3339(*at));
  };
  row("id", job.id.hex());
  row("topic", job.topic);
  row("queue", cell(job.queue));
  row("state", std::string(to_string(job.state)));
  row("level", std::string(to_string(job.level)));
  row("priority", std::to_string(job.priority));
  row("attempt", std::to_string(job.attempt) + " of " + std::to_string(job.max_attempts));
  row("deliveries", std::to_string(job.deliveries));
  row("owner", job.owner.hex());
  if (job.consumer) row("consumer", job.consumer->hex());
  row("added", format_rfc3339(job.added));
  time("not before", job.not_before);
  time("started", job.started);
  time("finished", job.finished);
  if (job.result) row("result", line(to_json(*job.result)));
  if (!job.error.empty()) row("error", cell(job.error));
  for (const auto& error : job.errors) row("attempt failed", cell(error));
  return table(rows);
}

}  // namespace

int run_job_show(const Arguments& arguments) {
  Options options("job show", "ID [OPTION...]", "Shows one job.");
  options.positional("id");
  options.reaches_node();
  if (const auto code = options.parse(arguments)) return *code;
  const auto id = JobId::parse(options.text("id"));
  if (!id) return options.wrong(id.error().message);
  auto client = reach(options);
  if (!client) return ended(options, client.error());
  const auto job = client->get(*id);
  if (!job) return ended(options, job.error());
  if (options.json()) {
    std::cout << line(to_json(*job)) << '\n';
  } else {
    std::cout << block(*job);
  }
  return kDone;
}

}  // namespace headrace::cli
