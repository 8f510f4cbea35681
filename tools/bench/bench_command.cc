#include "tools/bench/bench_command.h"

#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/utf8.h"
#include "tools/bench/bench_report.h"
#include "tools/bench/compare.h"
#include "tools/bench/events.h"
#include "tools/bench/idle.h"
#include "tools/bench/jobs.h"
#include "tools/bench/latency.h"
#include "tools/bench/limits.h"
#include "tools/bench/mesh.h"
#include "tools/cli/options.h"

namespace headrace::bench {
namespace {

using cli::Options;
namespace po = cli::po;

// Numbers are read signed, so that a negative one is refused and not taken for a huge one.
using Number = std::int64_t;

void add_number(Options& options, const char* name, Number value, const char* help) {
  options.add()(name, po::value<Number>()->default_value(value)->value_name("N"), help);
}

void add_seconds(Options& options, const char* name, const char* value, const char* help) {
  options.add()(name, po::value<std::string>()->default_value(value)->value_name("SECONDS"), help);
}

void add_directory(Options& options) {
  options.add()("dir", po::value<std::string>()->default_value("/var/tmp")->value_name("DIR"),
                "a folder on the disk to measure; what is made there is removed");
}

void add_pin(Options& options) {
  options.add()("pin", "a CPU for each process, where there are two");
}

// Reads numbers off the command line; remembers the first that does not fit.
class Reader final {
 public:
  explicit Reader(const Options& options) : options_(options) {}

  template <typename T>
  void number(const std::string& name, T& to) {
    const auto value = options_.get<Number>(name);
    if (std::in_range<T>(value)) {
      to = static_cast<T>(value);
    } else if (wrong_.empty()) {
      wrong_ = name + ' ' + std::to_string(value) + ": out of range";
    }
  }

  void seconds(const std::string& name, Millis& to) {
    auto value = cli::parse_seconds(options_.text(name));
    if (value) {
      to = *value;
    } else if (wrong_.empty()) {
      wrong_ = "option --" + name + ": " + value.error().message;
    }
  }

  const std::string& wrong() const { return wrong_; }

 private:
  const Options& options_;
  std::string wrong_;
};

// What all benches end in: measures, and prints what came of it.
template <typename Given, typename Measure>
int finish(const Options& options, const Reader& reader, const Result<Given>& given,
           const Measure& measure) {
  if (!reader.wrong().empty()) return options.wrong(reader.wrong());
  if (!given) return options.wrong(given.error().message);
  auto result = [&] { return measure(*given, progress_for(options)); }();
  if (!result) return cli::failure(result.error());
  print_report(options, to_json(*given, *result));
  return cli::kDone;
}

int run_limits(const cli::Arguments& arguments) {
  Options options("bench limits", "[OPTION...]",
                  "What the parts could do: libzmq, LevelDB and the disk by themselves.");
  add_number(options, "size", 100, "bytes of a message");
  add_number(options, "count", 0, "messages of a measurement; 0: some seconds' worth");
  add_number(options, "round-trips", 20'000, "for the time there and back");
  add_seconds(options, "disk-seconds", "2", "for each figure of the disk");
  add_directory(options);
  add_pin(options);
  if (const auto code = options.parse(arguments)) return *code;
  LimitsOptions given;
  Reader reader(options);
  reader.number("size", given.size);
  reader.number("count", given.messages);
  reader.number("round-trips", given.round_trips);
  reader.seconds("disk-seconds", given.disk_time);
  given.directory = options.text("dir");
  given.pin = options.has("pin");
  return finish(options, reader, checked(given), measure_limits);
}

int run_events(const cli::Arguments& arguments) {
  Options options(
      "bench events", "[OPTION...]",
      "Events a second from a publisher to its subscribers, counted where they arrive.");
  add_number(options, "size", 100, "bytes of a payload");
  add_number(options, "count", 0, "events to publish; 0: some seconds' worth");
  add_number(options, "subscribers", 1, "each a process");
  add_pin(options);
  if (const auto code = options.parse(arguments)) return *code;
  EventsOptions given;
  Reader reader(options);
  reader.number("size", given.size);
  reader.number("count", given.count);
  reader.number("subscribers", given.subscribers);
  given.pin = options.has("pin");
  return finish(options, reader, checked(given), measure_events);
}

int run_latency(const cli::Arguments& arguments) {
  Options options("bench latency", "[OPTION...]",
                  "How long an event there and one back take, one at a time.");
  add_number(options, "size", 100, "bytes of a payload");
  add_number(options, "count", 20'000, "round trips");
  add_pin(options);
  if (const auto code = options.parse(arguments)) return *code;
  LatencyOptions given;
  Reader reader(options);
  reader.number("size", given.size);
  reader.number("count", given.count);
  given.pin = options.has("pin");
  return finish(options, reader, checked(given), measure_latency);
}

void add_jobs_options(Options& options) {
  const JobsOptions usual;
  add_number(options, "size", 100, "bytes of a payload");
  add_number(options, "count", static_cast<Number>(usual.count), "jobs of a phase");
  add_number(options, "workers", usual.workers, "each a process");
  add_number(options, "parallel", usual.parallel, "handlers at once in each worker");
  options.add()("level", po::value<std::string>()->default_value("disk")->value_name("LEVEL"),
                "at which an add is acknowledged: disk, os or memory");
  add_number(options, "window", usual.window, "adds under way at a time");
  add_number(options, "starts", usual.starts, "jobs added one at a time, for the time to start");
  add_number(options, "standing", 0, "unless 0, only: first lay this many, then add and run");
  add_seconds(options, "standing-seconds", "10", "for how long then");
  options.add()("client", "add through a client in a process of its own");
  add_directory(options);
  add_pin(options);
}

int run_jobs(const cli::Arguments& arguments) {
  Options options("bench jobs", "[OPTION...]",
                  "Durable jobs added and run a second, and the time from add to start.");
  add_jobs_options(options);
  if (const auto code = options.parse(arguments)) return *code;
  JobsOptions given;
  Reader reader(options);
  reader.number("size", given.size);
  reader.number("count", given.count);
  reader.number("workers", given.workers);
  reader.number("parallel", given.parallel);
  reader.number("window", given.window);
  reader.number("starts", given.starts);
  reader.number("standing", given.standing);
  reader.seconds("standing-seconds", given.standing_time);
  auto level = parse_level(options.text("level"));
  if (!level) return options.wrong(level.error().message);
  given.level = *level;
  given.client = options.has("client");
  given.directory = options.text("dir");
  given.pin = options.has("pin");
  return finish(options, reader, checked(given), measure_jobs);
}

int run_idle(const cli::Arguments& arguments) {
  Options options("bench idle", "[OPTION...]",
                  "What a node with a store, one peer and nothing to do takes of the machine.");
  add_seconds(options, "seconds", "60", "to look at it");
  add_directory(options);
  if (const auto code = options.parse(arguments)) return *code;
  IdleOptions given;
  Reader reader(options);
  reader.seconds("seconds", given.time);
  given.directory = options.text("dir");
  return finish(options, reader, checked(given), measure_idle);
}

int run_mesh(const cli::Arguments& arguments) {
  Options options("bench mesh", "[OPTION...]",
                  "How soon nodes know each other, and what each takes while nothing happens.");
  add_number(options, "nodes", 10, "each a process, joined through the first");
  add_seconds(options, "seconds", "10", "to look at them when they do");
  if (const auto code = options.parse(arguments)) return *code;
  MeshOptions given;
  Reader reader(options);
  reader.number("nodes", given.nodes);
  reader.seconds("seconds", given.time);
  return finish(options, reader, checked(given), measure_mesh);
}

int run_compare(const cli::Arguments& arguments) {
  Options options("bench compare", "WHAT [OPTION...]",
                  "Measures events, fanout, latency or jobs and what the parts could do, in turn.");
  options.positional("what");
  add_number(options, "rounds", 5, "of both; the figures are medians");
  add_number(options, "size", 100, "bytes of a payload");
  add_number(options, "count", 0, "events, round trips or jobs of a round; 0: as each bench does");
  add_directory(options);
  if (const auto code = options.parse(arguments)) return *code;
  CompareOptions given;
  Reader reader(options);
  given.what = options.text("what");
  reader.number("rounds", given.rounds);
  reader.number("size", given.size);
  reader.number("count", given.count);
  given.directory = options.text("dir");
  return finish(options, reader, checked(given), measure_compare);
}

const std::vector<cli::Command>& benches() {
  static const std::vector<cli::Command> kBenches{
      {"limits", "what libzmq, LevelDB and the disk could do", run_limits},
      {"events", "events a second", run_events},
      {"latency", "an event there and back", run_latency},
      {"jobs", "durable jobs a second, and the time to their start", run_jobs},
      {"idle", "memory and CPU of a node with nothing to do", run_idle},
      {"mesh", "what it costs that many nodes know each other", run_mesh},
      {"compare", "Headrace beside what the parts could do", run_compare}};
  return kBenches;
}

}  // namespace

int run_bench(const cli::Arguments& arguments) {
  // Roles meet by address; nobody else's nodes take part in a measurement.
  ::setenv("HEADRACE_BEACON", "off", 1);
  const auto is_known = [&](const cli::Command& bench) { return bench.name == arguments.front(); };
  const bool known = arguments.empty() || arguments.front().starts_with('-') ||
                     std::any_of(benches().begin(), benches().end(), is_known);
  if (!known) {
    std::string names;
    for (const auto& bench : benches())
      names += (names.empty() ? "" : ", ") + std::string(bench.name);
    return cli::usage_error("bench",
                            "unknown bench " + shown(arguments.front()) + "; there are " + names);
  }
  return cli::dispatch("bench", "Measures Headrace on this machine, and what the machine could do.",
                       benches(), arguments);
}

}  // namespace headrace::bench
