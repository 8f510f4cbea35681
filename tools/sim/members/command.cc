#include "tools/sim/members/command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace headrace::sim {
namespace {

constexpr std::uint64_t kMedianFrom = 5;  // seeds; of fewer a median says nothing

std::string hex(std::uint64_t hash) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

std::string number(double value, const std::string& unit) {
  std::ostringstream out;
  const bool count = unit.empty() && value == std::floor(value);
  out << std::fixed << std::setprecision(count ? 0 : 2) << value;
  if (!unit.empty()) out << ' ' << unit;
  return out.str();
}

// How far it is, now and then, once it has taken a while.
class Progress final {
 public:
  Progress(const MemberRequest& request, std::uint64_t done)
      : lasts_(request.scenario->lasts), seeds_(request.seeds), done_(done) {}

  void operator()(std::chrono::seconds virtual_time) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds{2};
    const auto part = std::min(
        1.0, static_cast<double>(virtual_time.count()) / static_cast<double>(lasts_.count()));
    const auto all = (static_cast<double>(done_) + part) / static_cast<double>(seeds_);
    std::cerr << (::isatty(STDERR_FILENO) != 0 ? "\r" : "") << "seed " << done_ + 1 << " of "
              << seeds_ << ", " << virtual_time.count() << " s of virtual time, some "
              << static_cast<int>(all * 100) << " %"
              << (::isatty(STDERR_FILENO) != 0 ? "   " : "\n") << std::flush;
  }

 private:
  std::chrono::seconds lasts_;
  std::uint64_t seeds_, done_;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds{2};
};

std::vector<Verdict> judge(const std::vector<MemberFigures>& runs, std::uint64_t first_seed) {
  std::vector<Verdict> out;
  for (std::size_t i = 0; i < runs.front().size(); ++i) {
    Verdict verdict;
    std::vector<double> values;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const auto& figure = runs[run][i];
      if (values.empty() || figure.value > verdict.worst.value) {
        verdict.worst = figure;
        verdict.worst_seed = first_seed + run;
      }
      values.push_back(figure.value);
    }
    std::sort(values.begin(), values.end());
    verdict.median = values[(values.size() - 1) / 2];
    verdict.judges_median =
        runs.size() >= kMedianFrom && verdict.worst.median_at_most < Figure::kAny;
    out.push_back(std::move(verdict));
  }
  return out;
}

std::string repeat_line(const MemberRequest& request, std::uint64_t seed) {
  return "headrace-sim --scenario " + std::string(request.scenario->name) + " --members " +
         std::to_string(request.members) + " --profile " + request.profile +
         (request.lifeguard ? "" : " --without-lifeguard") + " --seed " + std::to_string(seed);
}

void print(const MemberRequest& request, const MemberOutcome& outcome) {
  std::cout << request.scenario->name << ", " << request.members << " members, profile "
            << request.profile << (request.lifeguard ? "" : " without Lifeguard") << ", seed "
            << request.seed;
  if (request.seeds > 1) std::cout << " to " << request.seed + request.seeds - 1;
  std::cout << '\n';
  for (const auto& verdict : outcome.verdicts) {
    const auto& worst = verdict.worst;
    const bool judged = worst.at_most < Figure::kAny || verdict.judges_median;
    std::cout << (!judged           ? "        "
                  : verdict.holds() ? "holds   "
                                    : "BROKEN  ")
              << worst.name << ": " << number(worst.value, worst.unit);
    if (worst.at_most < Figure::kAny) {
      std::cout << " (at most " << number(worst.at_most, worst.unit) << ')';
    }
    if (request.seeds > 1) {
      std::cout << ", seed " << verdict.worst_seed << "; median "
                << number(verdict.median, worst.unit);
      if (verdict.judges_median) {
        std::cout << " (at most " << number(worst.median_at_most, worst.unit) << ')';
      }
    }
    std::cout << '\n';
    if (!verdict.holds()) {
      std::cout << "        repeat it: " << repeat_line(request, verdict.worst_seed) << '\n';
    }
  }
  std::cout << "trace hash: " << hex(outcome.hash) << '\n';
}

void print_json(const MemberRequest& request, const MemberOutcome& outcome) {
  nlohmann::ordered_json out;
  out["scenario"] = request.scenario->name;
  out["members"] = request.members;
  out["profile"] = request.profile;
  out["lifeguard"] = request.lifeguard;
  out["seed"] = request.seed;
  out["seeds"] = request.seeds;
  out["holds"] = outcome.holds();
  out["figures"] = nlohmann::ordered_json::array();
  for (const auto& verdict : outcome.verdicts) {
    const auto& worst = verdict.worst;
    nlohmann::ordered_json one;
    one["name"] = worst.name;
    one["unit"] = worst.unit;
    one["value"] = worst.value;
    one["at_most"] = worst.at_most < Figure::kAny ? nlohmann::ordered_json(worst.at_most) : nullptr;
    one["seed"] = verdict.worst_seed;
    one["median"] = verdict.median;
    one["median_at_most"] =
        verdict.judges_median ? nlohmann::ordered_json(worst.median_at_most) : nullptr;
    one["holds"] = verdict.holds();
    out["figures"].push_back(std::move(one));
  }
  out["trace_hash"] = hex(outcome.hash);
  std::cout << out.dump(2) << '\n';
}

}  // namespace

bool MemberOutcome::holds() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.holds(); });
}

bool find_profile(const std::string& name, Profile& profile) {
  if (name == "lan") profile = Profile::lan();
  if (name == "fast") profile = Profile::fast();
  if (name == "wan") profile = Profile::wan();
  return name == "lan" || name == "fast" || name == "wan";
}

MemberOutcome run_members(const MemberRequest& request, std::ostream* trace, bool progress) {
  MemberOutcome out;
  std::vector<MemberFigures> runs;
  Trace all(nullptr);
  for (std::uint64_t i = 0; i < request.seeds; ++i) {
    MemberSetup setup;
    setup.members = request.members;
    setup.seed = request.seed + i;
    find_profile(request.profile, setup.profile);
    if (!request.lifeguard) setup.profile = without_lifeguard(setup.profile);
    setup.trace = trace;
    if (progress) setup.progress = Progress(request, i);
    MemberWorld world(std::move(setup));
    runs.push_back(request.scenario->play(world));
    all.mix(world.hash());
    out.hash = request.seeds == 1 ? world.hash() : all.hash();
  }
  out.verdicts = judge(runs, request.seed);
  return out;
}

int members_command(const MemberRequest& request) {
  const auto outcome = run_members(request, request.trace ? &std::cout : nullptr, true);
  if (::isatty(STDERR_FILENO) != 0) std::cerr << '\r';
  if (request.json) {
    print_json(request, outcome);
  } else {
    print(request, outcome);
  }
  return outcome.holds() ? 0 : 1;
}

}  // namespace headrace::sim
