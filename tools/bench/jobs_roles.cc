#include "tools/bench/jobs_roles.h"

#include <unistd.h>

#include <cstring>

#include "tools/bench/usage.h"

namespace headrace::bench {
namespace {

constexpr char kTopic[] = "bench.jobs";
constexpr Millis kWarmUpRound{20};
constexpr Millis kEnd{60'000};

Result<void> work(JobsBoard& board, WorkerBoard& own, Starts& starts, const JobsOptions& options) {
  auto node = join(board.owner);
  if (!node) return fail(node.error());
  ++board.joined;
  auto told = [&] { return board.consume != 0 || board.over != 0; };
  if (auto state = await_that(told, kCase, "the word to consume"); !state) return state;
  if (board.over != 0) return {};
  auto run = [&](RunningJob& job) {
    const auto now = now_ns();
    std::uint64_t number = 0;
    if (job.payload().size() != options.size) return JobOutcome::cancel("a payload was changed");
    std::memcpy(&number, job.payload().data(), sizeof number);
    if (number == kWarmUp) {
      own.warm = 1;
      return JobOutcome::ok();
    }
    if (number >= starts.size()) return JobOutcome::cancel("a payload was changed");
    std::int64_t none = 0;
    if (!starts[number].compare_exchange_strong(none, now)) {
      ++own.repeated;
    } else if (own.ran.fetch_add(1) == 0) {
      own.first_ns = now;
    }
    return JobOutcome::ok();
  };
  ConsumerOptions consumer_options;
  consumer_options.parallel = options.parallel;
  auto consumer = node->consume(kTopic, run, consumer_options);
  if (!consumer) return fail(consumer.error());
  return await(board.over, 1, kCase, "the end");
}

Result<void> lead_from(JobsBoard& board, Producer& producer, unsigned workers, const Lead& lead) {
  if (auto there = await(board.joined, workers, kStart, "all workers to join"); !there) {
    return there;
  }
  auto result = lead(producer);
  board.over = 1;
  return result;
}

Result<void> own(JobsBoard& board, const JobsOptions& options, const std::string& data,
                 unsigned workers, const Lead& lead) {
  NodeOptions node_options;
  node_options.data = data;
  auto node = Node::open(std::move(node_options));
  if (!node) return fail(node.error());
  board.owner_process = getpid();
  board.owner.tell(node->endpoint());
  Result<void> result;
  if (options.client) {
    result = await(board.over, 1, kCase, "the client to end");
  } else {
    auto producer = producer_of(*node);
    result = lead_from(board, *producer, workers, lead);
  }
  if (!result) return result;
  auto memory = memory_of(getpid());
  if (!memory) return fail(memory.error());
  board.peak_mb = memory->peak_mb;
  return {};
}

unsigned count_warm(const JobsBoard& board) {
  unsigned count = 0;
  for (const auto& worker : board.workers) count += worker.warm;
  return count;
}

}  // namespace

std::uint64_t JobsBoard::ran() const {
  std::uint64_t sum = 0;
  for (const auto& worker : workers) sum += worker.ran;
  return sum;
}

std::uint64_t JobsBoard::repeated() const {
  std::uint64_t sum = 0;
  for (const auto& worker : workers) sum += worker.repeated;
  return sum;
}

std::int64_t JobsBoard::first_start_ns() const {
  std::int64_t first = 0;
  for (const auto& worker : workers) {
    const std::int64_t began = worker.first_ns;
    if (began != 0 && (first == 0 || began < first)) first = began;
  }
  return first;
}

JobSpec job_number(std::uint64_t number, const JobsOptions& options) {
  JobSpec spec;
  spec.topic = kTopic;
  spec.level = options.level;
  spec.payload.resize(options.size, 'x');
  std::memcpy(spec.payload.data(), &number, sizeof number);
  return spec;
}

Result<void> warm_up(JobsBoard& board, Producer& producer, const JobsOptions& options) {
  board.consume = 1;
  auto warm = [&] { return count_warm(board) == options.workers; };
  const auto deadline = now_ns() + Nanos(kStart).count();
  Pipeline pipeline(producer, options.window);
  while (!await_that(warm, kWarmUpRound, "workers")) {
    if (now_ns() > deadline) {
      (void)pipeline.finish();
      return fail(Code::kTimeout, std::to_string(count_warm(board)) + " of " +
                                      std::to_string(options.workers) + " workers get jobs");
    }
    for (unsigned i = 0; i < 2 * options.workers; ++i) {
      if (auto added = pipeline.add(job_number(kWarmUp, options)); !added) {
        (void)pipeline.finish();
        return added;
      }
    }
  }
  if (auto finished = pipeline.finish(); !finished) return finished;
  Result<void> state;
  auto at_rest = [&] {
    auto unfinished = any_unfinished(producer);
    if (!unfinished) state = fail(unfinished.error());
    return !unfinished || !*unfinished;
  };
  if (auto rest = await_that(at_rest, kEnd, "the warm-up to end"); !rest) return rest;
  return state;
}

Result<bool> any_unfinished(Producer& producer) {
  for (const auto state : {JobState::kActive, JobState::kQueued, JobState::kDelayed}) {
    JobFilter filter;
    filter.state = state;
    filter.limit = 1;
    auto found = producer.find(filter);
    if (!found) return fail(found.error());
    if (!found->empty()) return true;
  }
  return false;
}

Result<void> run_roles(JobsBoard& board, Starts& starts, const JobsOptions& options,
                       const std::string& data, unsigned workers, const Lead& lead,
                       const std::function<void()>& tick) {
  Crew crew;
  unsigned role = 0;
  auto cpu = [&]() -> std::optional<unsigned> {
    return options.pin && workers > 0 ? cpu_for(role++) : std::nullopt;
  };
  auto started =
      crew.start("owner", cpu(), [&] { return own(board, options, data, workers, lead); });
  if (started && options.client) {
    started = crew.start("client", cpu(), [&]() -> Result<void> {
      auto endpoint = board.owner.wait();
      if (!endpoint) return fail(endpoint.error());
      auto producer = producer_at(*endpoint);
      if (!producer) return fail(producer.error());
      return lead_from(board, **producer, workers, lead);
    });
  }
  for (unsigned i = 0; started && i < workers; ++i) {
    started = crew.start("worker " + std::to_string(i + 1), cpu(),
                         [&, i] { return work(board, board.workers[i], starts, options); });
  }
  if (!started) return started;
  return crew.wait(kCase, tick);
}

}  // namespace headrace::bench
