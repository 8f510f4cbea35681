// headrace-sim: runs scenarios in a virtual world and says which promises held.
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/sim/members/command.h"
#include "tools/sim/world.h"

namespace headrace::sim {
namespace {

namespace po = boost::program_options;

constexpr int kBroken = 1, kUsage = 2;
constexpr std::uint64_t kBarFrom = 20;  // seeds; below, a bar would only flicker

struct Request {
  Scenario scenario;
  std::uint64_t seed = 1, seeds = 1;
  bool trace = false, json = false;
};

std::string hex(std::uint64_t hash) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

int usage(const std::string& what) {
  std::cerr << "headrace-sim: " << what << " (--help says how)\n";
  return kUsage;
}

void list() {
  std::cout << "Whole nodes:\n" << std::left;
  for (const auto& scenario : scenarios()) {
    std::cout << "  " << std::setw(20) << scenario.name << scenario.line << '\n';
  }
  std::cout << "\nMembership alone, 10 to 10,000 members:\n";
  for (const auto& scenario : member_scenarios()) {
    std::cout << "  " << std::setw(20) << scenario.name << scenario.line << '\n';
  }
}

std::string repeat_line(const Request& request, std::uint64_t seed) {
  const auto& scenario = request.scenario;
  return "headrace-sim --scenario " + std::string(scenario.name) + " --seed " +
         std::to_string(seed) + " --nodes " + std::to_string(scenario.nodes) + " --jobs " +
         std::to_string(scenario.jobs);
}

void print_figures(const Figures& figures) {
  std::cout << "events " << figures.events << ", turns " << figures.turns << ", frames "
            << figures.frames << " (" << figures.frames_lost << " lost), jobs " << figures.jobs
            << ", dispatches " << figures.dispatches << ", runs " << figures.runs << ", "
            << std::fixed << std::setprecision(1) << figures.seconds << " s of virtual time\n";
}

void add_to(Figures& sum, const Figures& one) {
  sum.events += one.events;
  sum.turns += one.turns;
  sum.frames += one.frames;
  sum.frames_lost += one.frames_lost;
  sum.jobs += one.jobs;
  sum.dispatches += one.dispatches;
  sum.runs += one.runs;
  sum.seconds += one.seconds;
}

void print_verdicts(const Report& report) {
  for (std::size_t i = 0; i < kChecks; ++i) {
    const auto& broken = report.broken[i];
    std::cout << (broken.empty() ? "holds   " : "BROKEN  ") << name_of(static_cast<Check>(i))
              << '\n';
    for (const auto& what : broken) std::cout << "        " << what << '\n';
  }
}

void print_json(const Request& request, const Report& report, const Figures& sum,
                std::uint64_t seed) {
  nlohmann::ordered_json out;
  out["scenario"] = request.scenario.name;
  out["seed"] = seed;
  out["seeds"] = request.seeds;
  out["nodes"] = request.scenario.nodes;
  out["jobs"] = request.scenario.jobs;
  out["holds"] = report.holds();
  for (std::size_t i = 0; i < kChecks; ++i) {
    out["broken"][name_of(static_cast<Check>(i))] = report.broken[i];
  }
  out["figures"] = {{"events", sum.events}, {"turns", sum.turns},
                    {"frames", sum.frames}, {"frames_lost", sum.frames_lost},
                    {"jobs", sum.jobs},     {"dispatches", sum.dispatches},
                    {"runs", sum.runs},     {"virtual_seconds", sum.seconds}};
  out["trace_hash"] = hex(report.hash);
  std::cout << out.dump(2) << '\n';
}

void show_bar(std::uint64_t done, std::uint64_t all) {
  constexpr std::uint64_t kWidth = 40;
  const auto full = static_cast<std::size_t>(done * kWidth / all);
  std::cerr << "\r[" << std::string(full, '#') << std::string(kWidth - full, '.') << "] " << done
            << '/' << all << (done == all ? "\n" : "") << std::flush;
}

int run(const Request& request) {
  const bool bar = request.seeds >= kBarFrom && ::isatty(STDERR_FILENO) != 0;
  Figures sum;
  Report report;
  std::uint64_t seed = request.seed;
  for (std::uint64_t i = 0; i < request.seeds; ++i) {
    seed = request.seed + i;
    World world(request.scenario, seed, Plant::kNone, request.trace ? &std::cout : nullptr);
    report = world.run();
    add_to(sum, report.figures);
    if (bar) show_bar(report.holds() ? i + 1 : request.seeds, request.seeds);
    if (!report.holds()) break;
  }
  if (request.json) {
    print_json(request, report, sum, seed);
  } else {
    print_figures(sum);
    print_verdicts(report);
    std::cout << "trace hash: " << hex(report.hash) << '\n';
    if (!report.holds()) std::cout << "repeat it: " << repeat_line(request, seed) << '\n';
  }
  return report.holds() ? 0 : kBroken;
}

int check_and_run(MemberRequest request, const po::variables_map& given) {
  for (const auto* other : {"nodes", "jobs"}) {
    if (given.contains(other)) return usage(std::string("--") + other + " is of whole nodes");
  }
  if (request.members < kLeastMembers || request.members > kMostMembers) {
    return usage("--members " + std::to_string(request.members) + " is not between " +
                 std::to_string(kLeastMembers) + " and " + std::to_string(kMostMembers));
  }
  Profile profile;
  if (!find_profile(request.profile, profile)) {
    return usage("--profile " + request.profile + " is not lan, fast or wan");
  }
  if (request.seeds < 1) return usage("--seeds must be at least 1");
  return members_command(request);
}

int main_of(int argc, char** argv) {
  Request request;
  MemberRequest members;
  std::string name;
  unsigned nodes = 0, jobs = 0;
  po::options_description options(
      "headrace-sim: whole nodes, or membership alone, in a virtual world from one seed");
  options.add_options()("help", "say this")("version", "say which version this is")(
      "list", "name the scenarios")("scenario", po::value(&name), "which one to run")(
      "seed", po::value(&request.seed), "the first seed (1)")(
      "seeds", po::value(&request.seeds), "how many seeds, one after another (1)")(
      "nodes", po::value(&nodes), "machines, instead of the scenario's number")(
      "jobs", po::value(&jobs), "jobs, instead of the scenario's number")(
      "members", po::value(&members.members), "of a scenario of membership (1000)")(
      "profile", po::value(&members.profile), "of membership: lan, fast or wan (lan)")(
      "without-lifeguard", "membership that blames others for its own slowness: must fail")(
      "trace", po::bool_switch(&request.trace), "write what happens")(
      "json", po::bool_switch(&request.json), "print one JSON object");
  po::variables_map given;
  try {
    po::store(po::command_line_parser(argc, argv).options(options).positional({}).run(), given);
    po::notify(given);
  } catch (const po::error& error) {
    return usage(error.what());
  }
  if (given.contains("version")) {
    std::cout << "headrace-sim " HEADRACE_VERSION "\n";
    return 0;
  }
  if (given.contains("help")) {
    std::cout << options;
    return 0;
  }
  if (given.contains("list")) {
    list();
    return 0;
  }
  if (name.empty()) return usage("which scenario? --list names them");
  members.scenario = find_member_scenario(name);
  if (members.scenario != nullptr) {
    members.seed = request.seed;
    members.seeds = request.seeds;
    members.trace = request.trace;
    members.json = request.json;
    members.lifeguard = !given.contains("without-lifeguard");
    return check_and_run(members, given);
  }
  const auto* scenario = find_scenario(name);
  if (scenario == nullptr) return usage("there is no scenario '" + name + "': --list names them");
  for (const auto* other : {"members", "profile", "without-lifeguard"}) {
    if (given.contains(other)) return usage(std::string("--") + other + " is of membership alone");
  }
  request.scenario = *scenario;
  if (given.contains("nodes")) request.scenario.nodes = nodes;
  if (given.contains("jobs")) request.scenario.jobs = jobs;
  const auto least = scenario->owners + scenario->late + 1;
  if (request.scenario.nodes < least || request.scenario.nodes > 100) {
    return usage("--nodes " + std::to_string(request.scenario.nodes) + " is not between " +
                 std::to_string(least) + " and 100, which " + name + " needs");
  }
  if (request.scenario.jobs < 1 || request.scenario.jobs > 100'000) {
    return usage("--jobs " + std::to_string(request.scenario.jobs) +
                 " is not between 1 and 100000");
  }
  if (request.seeds < 1) return usage("--seeds must be at least 1");
  return run(request);
}

}  // namespace
}  // namespace headrace::sim

int main(int argc, char** argv) { return headrace::sim::main_of(argc, argv); }
