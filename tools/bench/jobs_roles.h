// The processes of a measurement of jobs, and what they share.
//
// The owner opens a node with a store and tells where. Workers join it, and consume when told to.
// The producer, in the owner's process or one of its own, leads the measurement and says when it is
// over.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "tools/bench/jobs.h"
#include "tools/bench/jobs_producer.h"
#include "tools/bench/meeting.h"

namespace headrace::bench {

inline constexpr unsigned kMaxWorkers = 64;

struct alignas(64) WorkerBoard {
  std::atomic<std::uint64_t> ran{0};       // different jobs
  std::atomic<std::uint64_t> repeated{0};  // runs of a job that had been run
  std::atomic<std::int64_t> first_ns{0};
  std::atomic<std::uint32_t> warm{0};  // has run a warm-up job
};

struct JobsBoard {
  MeetingPoint owner;
  std::atomic<std::uint32_t> joined{0};  // workers
  std::atomic<std::uint32_t> consume{0};
  std::atomic<std::uint32_t> over{0};
  std::atomic<std::uint64_t> answered{0};  // adds
  std::array<WorkerBoard, kMaxWorkers> workers{};
  std::atomic<pid_t> owner_process{0};  // before `owner` is told
  double peak_mb = 0;                   // of the owner, at its end

  std::uint64_t ran() const;
  std::uint64_t repeated() const;
  std::int64_t first_start_ns() const;  // 0: none ran
};

// When the handler of each job started, by the number in its payload. 0: not yet.
using Starts = SharedArray<std::atomic<std::int64_t>>;

inline constexpr std::uint64_t kWarmUp = ~std::uint64_t{0};  // the number of jobs that only warm up

JobSpec job_number(std::uint64_t number, const JobsOptions& options);
// Registers the consumers, and sees that each worker runs something.
Result<void> warm_up(JobsBoard& board, Producer& producer, const JobsOptions& options);
Result<bool> any_unfinished(Producer& producer);

// Runs `lead` in the producer's process, with an owner and workers beside it. `data`: the owner's.
using Lead = std::function<Result<void>(Producer&)>;
Result<void> run_roles(JobsBoard& board, Starts& starts, const JobsOptions& options,
                       const std::string& data, unsigned workers, const Lead& lead,
                       const std::function<void()>& tick);

}  // namespace headrace::bench
