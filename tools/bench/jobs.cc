#include "tools/bench/jobs.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/limits.h"
#include "tools/bench/jobs_roles.h"
#include "tools/bench/scratch.h"
#include "tools/bench/stats.h"
#include "tools/bench/usage.h"

namespace headrace::bench {
namespace {

constexpr std::uint64_t kMaxJobs = 20'000'000;
constexpr std::uint64_t kMaxStandingRate = 500'000;  // no machine adds and runs more in a second
constexpr Millis kSilence{10'000};                   // nothing has ended for this long: it is lost
constexpr Millis kPoll{1};
constexpr Millis kOne{30'000};  // for one job, added and run

double rate(std::uint64_t count, std::int64_t from_ns, std::int64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(count) * 1e9 / static_cast<double>(to_ns - from_ns)
                         : 0;
}

// Adds jobs [from, to), counting answers on the board. When the first was called and the last
// answered.
struct Added {
  std::int64_t first_ns = 0, last_ns = 0;
};
Result<Added> add_jobs(JobsBoard& board, Producer& producer, const JobsOptions& options,
                       std::uint64_t from, std::uint64_t to) {
  Added added;
  added.first_ns = now_ns();
  Pipeline pipeline(producer, options.window);
  Result<void> state;
  for (std::uint64_t i = from; state && i < to; ++i) {
    state = pipeline.add(job_number(i, options));
    if (i % 64 == 0) board.answered = from + pipeline.answered();
  }
  auto finished = pipeline.finish();
  if (!state) return fail(state.error());
  if (!finished) return fail(finished.error());
  added.last_ns = now_ns();
  board.answered = to;
  return added;
}

// When all of `count` jobs had an outcome at the owner, or nothing moved any more.
Result<std::int64_t> await_outcomes(JobsBoard& board, Producer& producer, std::uint64_t count) {
  std::uint64_t seen = board.ran();
  while (seen < count) {
    auto moved = [&] { return board.ran() > seen; };
    if (!await_that(moved, kSilence, "jobs to run")) return now_ns();
    seen = board.ran();
  }
  Result<bool> unfinished = true;
  auto ended = [&] {
    unfinished = any_unfinished(producer);
    return !unfinished || !*unfinished;
  };
  (void)await_that(ended, kSilence, "outcomes");
  if (!unfinished) return fail(unfinished.error());
  return now_ns();
}

// What the phases have in common: a scratch folder, a board, and what is read off it at the end.
class Phases final {
 public:
  Phases(const JobsOptions& options, const Progress& progress)
      : options_(options), progress_(progress) {}

  Result<void> add_then_run(bool run);
  Result<void> add_and_run();
  Result<void> start_one_by_one();
  Result<void> add_and_run_beside_standing();
  const JobsResult& result() const { return result_; }

 private:
  struct Times {  // in shared memory, written by whoever leads
    std::int64_t from_ns = 0, added_ns = 0, ended_ns = 0;
    std::uint64_t count = 0;
    std::int64_t both_from_ns = 0;
    std::uint64_t both = 0;
    double rss_mb = 0;
  };

  Result<void> run_phase(std::string_view what, std::uint64_t jobs, unsigned workers,
                         const Lead& lead);
  Result<void> keep_pace(Producer& producer, std::uint64_t most);

  const JobsOptions& options_;
  const Progress& progress_;
  std::unique_ptr<Shared<JobsBoard>> board_;  // of the phase
  std::unique_ptr<Starts> starts_;
  Shared<Times> times_;
  JobsResult result_;
};

Result<void> Phases::run_phase(std::string_view what, std::uint64_t jobs, unsigned workers,
                               const Lead& lead) {
  auto scratch = Scratch::make(options_.directory);
  if (!scratch) return fail(scratch.error());
  board_ = std::make_unique<Shared<JobsBoard>>();
  starts_ = std::make_unique<Starts>(jobs);
  *times_ = Times{};
  JobsBoard& board = **board_;
  auto tick = [&] {
    if (!progress_) return;
    const auto steps = workers > 0 ? board.answered + board.ran() : board.answered.load();
    const auto all = static_cast<double>(jobs) * (workers > 0 ? 2 : 1);
    progress_(what, std::min(1.0, static_cast<double>(steps) / all));
  };
  auto ended = run_roles(board, *starts_, options_, (*scratch)->file("owner"), workers, lead, tick);
  if (!ended) return ended;
  result_.rss_mb = std::max(result_.rss_mb, board.peak_mb);
  result_.repeated += board.repeated();
  if (workers > 0) result_.lost += times_->count - std::min(times_->count, board.ran());
  return {};
}

Result<void> Phases::add_then_run(bool run) {
  const auto workers = run ? options_.workers : 0;
  auto ended =
      run_phase("adding", options_.count, workers, [&](Producer& producer) -> Result<void> {
        auto added = add_jobs(**board_, producer, options_, 0, options_.count);
        if (!added) return fail(added.error());
        times_->from_ns = added->first_ns;
        times_->added_ns = added->last_ns;
        times_->count = options_.count;
        if (!run) return {};
        (*board_)->consume = 1;
        auto outcomes = await_outcomes(**board_, producer, options_.count);
        if (!outcomes) return fail(outcomes.error());
        times_->ended_ns = *outcomes;
        return {};
      });
  if (!ended) return ended;
  result_.adds_per_s = rate(options_.count, times_->from_ns, times_->added_ns);
  if (run) {
    result_.runs_per_s = rate((*board_)->ran(), (*board_)->first_start_ns(), times_->ended_ns);
  }
  return {};
}

Result<void> Phases::add_and_run() {
  auto ended = run_phase("adding and running", options_.count, options_.workers,
                         [&](Producer& producer) -> Result<void> {
                           if (auto warm = warm_up(**board_, producer, options_); !warm)
                             return warm;
                           auto added = add_jobs(**board_, producer, options_, 0, options_.count);
                           if (!added) return fail(added.error());
                           times_->count = options_.count;
                           auto outcomes = await_outcomes(**board_, producer, options_.count);
                           if (!outcomes) return fail(outcomes.error());
                           times_->from_ns = added->first_ns;
                           times_->ended_ns = *outcomes;
                           return {};
                         });
  if (!ended) return ended;
  result_.both_per_s = rate((*board_)->ran(), times_->from_ns, times_->ended_ns);
  return {};
}

Result<void> Phases::start_one_by_one() {
  SharedArray<std::int64_t> called(options_.starts);
  auto ended = run_phase("one at a time", options_.starts, options_.workers,
                         [&](Producer& producer) -> Result<void> {
                           if (auto warm = warm_up(**board_, producer, options_); !warm)
                             return warm;
                           times_->count = options_.starts;
                           for (std::uint32_t i = 0; i < options_.starts; ++i) {
                             auto spec = job_number(i, options_);
                             called[i] = now_ns();
                             if (auto run = producer.run(std::move(spec), kOne); !run) return run;
                             (*board_)->answered = i + 1;
                           }
                           return {};
                         });
  if (!ended) return ended;
  std::vector<std::int64_t> spent;
  for (std::uint32_t i = 0; i < options_.starts; ++i) spent.push_back((*starts_)[i] - called[i]);
  result_.start_p50_us = static_cast<double>(percentile(spent, 0.50)) / 1e3;
  result_.start_p99_us = static_cast<double>(percentile(spent, 0.99)) / 1e3;
  return {};
}

Result<void> Phases::add_and_run_beside_standing() {
  const auto seconds = static_cast<std::uint64_t>(options_.standing_time.count()) / 1000 + 1;
  const auto most = options_.standing + seconds * kMaxStandingRate;
  auto ended = run_phase("beside a backlog", most, options_.workers,
                         [&](Producer& producer) -> Result<void> {
                           auto& board = **board_;
                           auto laid = add_jobs(board, producer, options_, 0, options_.standing);
                           if (!laid) return fail(laid.error());
                           times_->from_ns = laid->first_ns;
                           times_->added_ns = laid->last_ns;
                           auto memory = memory_of(board.owner_process);
                           if (!memory) return fail(memory.error());
                           times_->rss_mb = memory->rss_mb;
                           board.consume = 1;
                           auto running = [&] { return board.ran() > 0; };
                           if (auto ran = await_that(running, kStart, "the first job to run"); !ran)
                             return ran;
                           return keep_pace(producer, most);
                         });
  if (!ended) return ended;
  result_.adds_per_s = rate(options_.standing, times_->from_ns, times_->added_ns);
  result_.both_per_s = rate(times_->both, times_->both_from_ns, times_->ended_ns);
  result_.rss_standing_mb = times_->rss_mb;
  return {};
}

// Adds as fast as jobs are run, for the time asked for.
Result<void> Phases::keep_pace(Producer& producer, std::uint64_t most) {
  const auto& board = **board_;
  const auto ran_before = board.ran();
  times_->both_from_ns = now_ns();
  const auto deadline = times_->both_from_ns + Nanos(options_.standing_time).count();
  Pipeline pipeline(producer, options_.window);
  Result<void> state;
  for (auto number = options_.standing; state && number < most && now_ns() < deadline;) {
    const auto allowed = options_.standing + kStandingAhead + board.ran() - ran_before;
    if (number >= allowed) {
      std::this_thread::sleep_for(kPoll);
    } else {
      state = pipeline.add(job_number(number++, options_));
    }
  }
  times_->both = std::min(pipeline.answered(), board.ran() - ran_before);
  times_->ended_ns = now_ns();
  auto finished = pipeline.finish();
  return state ? finished : state;
}

template <typename T>
Result<void> in_range(const char* what, T value, std::uint64_t low, std::uint64_t high) {
  if (value >= low && value <= high) return {};
  return fail(Code::kInvalid, std::string(what) + " " + std::to_string(value) + ": give " +
                                  std::to_string(low) + " to " + std::to_string(high));
}

}  // namespace

Result<JobsOptions> checked(JobsOptions options) {
  for (const auto& good :
       {in_range("size", options.size, sizeof(std::uint64_t), limits::kJobPayloadBytes),
        in_range("count", options.count, 1, kMaxJobs),
        in_range("workers", options.workers, 1, kMaxWorkers),
        in_range("parallel", options.parallel, 1, limits::kParallel),
        in_range("window", options.window, 1, limits::kPendingCalls),
        in_range("starts", options.starts, 1, kMaxJobs),
        in_range("standing", options.standing, 0, kMaxJobs), check_directory(options.directory)}) {
    if (!good) return fail(good.error());
  }
  if (options.standing_time < Millis{100} || options.standing_time > Millis{300'000}) {
    return fail(Code::kInvalid, "standing-seconds: give 0.1 to 300");
  }
  return options;
}

Result<JobsResult> measure_jobs(const JobsOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  Phases phases(*options, progress);
  Result<void> state;
  if (options->standing > 0) {
    state = phases.add_and_run_beside_standing();
  } else {
    state = phases.add_then_run(true);
    if (state) state = phases.add_and_run();
    if (state) state = phases.start_one_by_one();
  }
  if (!state) return fail(state.error());
  return phases.result();
}

Result<double> measure_adds(const JobsOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  Phases phases(*options, progress);
  if (auto state = phases.add_then_run(false); !state) return fail(state.error());
  return phases.result().adds_per_s;
}

nlohmann::json to_json(const JobsOptions& options, const JobsResult& result) {
  nlohmann::json json{
      {"size", options.size},
      {"count", options.count},
      {"workers", options.workers},
      {"parallel", options.parallel},
      {"level", to_string(options.level)},
      {"window", options.window},
      {"starts", options.starts},
      {"standing", options.standing},
      {"standing_seconds", static_cast<double>(options.standing_time.count()) / 1e3},
      {"client", options.client},
      {"pin", options.pin},
      {"directory", options.directory.string()},
      {"adds_per_s", result.adds_per_s},
      {"both_per_s", result.both_per_s},
      {"rss_mb", result.rss_mb},
      {"repeated", result.repeated}};
  auto put = [&](const char* name, const std::optional<double>& figure) {
    if (figure) json[name] = *figure;
  };
  put("runs_per_s", result.runs_per_s);
  put("start_p50_us", result.start_p50_us);
  put("start_p99_us", result.start_p99_us);
  put("rss_standing_mb", result.rss_standing_mb);
  if (options.standing == 0) json["lost"] = result.lost;
  return json;
}

}  // namespace headrace::bench
