// `headrace job add`: stores a job and, if asked, waits for its end.
#include <iostream>

#include "core/base/limits.h"
#include "core/topic/topic.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/json.h"
#include "tools/cli/reach.h"
#include "tools/cli/table.h"

namespace headrace::cli {
namespace {

constexpr std::string_view kForEver = "for ever";

void declare(Options& options) {
  options.positional("topic");
  options.add()("param,p", po::value<std::vector<std::string>>()->value_name("KEY=TEXT"),
                "a parameter, as text; KEY:=JSON for any other type; may be repeated")(
      "payload", po::value<std::string>()->value_name("FILE"), "the payload; - is standard input")(
      "priority", number_value(4), "0 to 9; 9 goes first")(
      "max-attempts", number_value(10), "runs that may fail before it is given up")(
      "level", po::value<std::string>()->default_value("disk")->value_name("LEVEL"),
      "where it is safe when this returns: disk, os or memory")(
      "id", po::value<std::string>()->value_name("ID"),
      "its id, 32 hex digits: adding it again is the same job")(
      "wait",
      po::value<std::string>()->implicit_value(std::string(kForEver), "")->value_name("[SECONDS]"),
      "wait for its end: exit code 0 if it SUCCEEDED, 1 if it ended otherwise, 3 if it has not "
      "ended in that time");
  options.reaches_node();
}

// Boost takes an optional value only after `=`; here it may stand after a space too, as a number.
Arguments joined_wait(const Arguments& arguments) {
  Arguments joined;
  for (const auto& argument : arguments) {
    if (!joined.empty() && joined.back() == "--wait" && parse_seconds(argument)) {
      joined.back() += "=" + argument;
    } else {
      joined.push_back(argument);
    }
  }
  return joined;
}

Result<JobSpec> spec_of(const Options& options) {
  JobSpec spec;
  spec.topic = options.text("topic");
  if (const auto good = Topic::check(spec.topic); !good) return fail(good.error());
  auto params = parse_params(options.all("param"));
  if (!params) return fail(params.error());
  spec.params = std::move(*params);
  const auto priority = options.number("priority", 0, 9);
  if (!priority) return fail(priority.error());
  spec.priority = static_cast<int>(*priority);
  const auto attempts = options.number("max-attempts", 1, limits::kAttempts);
  if (!attempts) return fail(attempts.error());
  spec.max_attempts = static_cast<unsigned>(*attempts);
  const auto level = parse_level(options.text("level"));
  if (!level) return fail(level.error());
  spec.level = *level;
  if (options.has("id")) {
    const auto id = JobId::parse(options.text("id"));
    if (!id) return fail(Code::kInvalid, "option --id: " + id.error().message);
    spec.id = *id;
  }
  return spec;
}

int wait_for(Client& client, const Options& options, const JobId& id,
             const std::optional<Millis>& time) {
  const auto job = client.wait(id, time);
  if (!job) {
    failure(job.error());
    return time && job.error().code == Code::kTimeout ? kNotInTime : kFailure;
  }
  const bool succeeded = job->state == JobState::kSucceeded;
  if (options.json()) {
    std::cout << line(to_json(*job)) << '\n';
  } else {
    std::cout << id.hex() << ' ' << to_string(job->state);
    if (succeeded && job->result) std::cout << ' ' << line(to_json(*job->result));
    if (!succeeded) std::cout << ' ' << cell(job->error);
    std::cout << '\n';
  }
  return succeeded ? kDone : kFailure;
}

}  // namespace

int run_job_add(const Arguments& arguments) {
  Options options("job add", "TOPIC [OPTION...]",
                  "Stores a job and prints its id; whoever consumes its topic runs it.");
  declare(options);
  if (const auto code = options.parse(joined_wait(arguments))) return *code;
  auto spec = spec_of(options);
  if (!spec) return options.wrong(spec.error().message);
  std::optional<Millis> time;
  if (options.has("wait") && options.text("wait") != kForEver) {
    const auto seconds = parse_seconds(options.text("wait"));
    if (!seconds) return options.wrong("option --wait: " + seconds.error().message);
    time = *seconds;
  }
  if (options.has("payload")) {
    auto payload = read_payload(options.text("payload"), limits::kJobPayloadBytes);
    if (!payload) return failure(payload.error());
    spec->payload = std::move(*payload);
  }

  const auto level = spec->level;
  auto client = reach(options);
  if (!client) return ended(options, client.error());
  const auto id = client->add(std::move(*spec));
  if (!id) return ended(options, id.error());
  if (options.has("wait")) return wait_for(*client, options, *id, time);
  if (options.json()) {
    std::cout << line({{"id", id->hex()}, {"level", to_string(level)}}) << '\n';
  } else {
    std::cout << id->hex() << '\n';
  }
  return kDone;
}

}  // namespace headrace::cli
