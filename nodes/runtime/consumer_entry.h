// A consumer and the runs of its handler, as the runtime holds them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/job/job_intake.h"
#include "nodes/node.h"
#include "nodes/runtime/workers.h"

namespace headrace::runtime {

using Handler = std::function<JobOutcome(RunningJob&)>;

struct ConsumerEntry {
  std::uint64_t key = 0;  // the node's own number of it, for as long as the node is open
  job::ConsumerConfig config;
  Handler handler;
  Workers::Reservation threads{};  // until its last run has ended, which may be after its stop
};

// One run. Made by the loop, used by the worker that runs it; `stopping` by both.
struct RunningJobState {
  std::shared_ptr<const ConsumerEntry> consumer;
  std::shared_ptr<const job::HeldJob> job;
  std::uint64_t era = 0;
  job::RunId run = 0;
  std::atomic<bool> stopping{false};
  std::optional<ParamSet> params{};  // decoded when first asked for
  bool unreadable = false;           // they could not be
};

struct JobEnded {
  std::uint64_t era = 0;
  job::RunId run = 0;
  JobEnd end;
  Nanos took{0};
};

// Calls the handler, and says what came of it: what it throws is a failed attempt.
JobEnd run_handler(RunningJobState& state);

}  // namespace headrace::runtime
