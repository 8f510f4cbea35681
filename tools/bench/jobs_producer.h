// Who adds the jobs of a measurement: a program that embeds the owner, or a client of it.
//
// Used by one thread. Fails as Node and Client do.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/job/job.h"
#include "nodes/node.h"

namespace headrace::bench {

class Producer {
 public:
  virtual ~Producer() = default;
  virtual Result<void> add_async(JobSpec spec, std::function<void(Result<JobId>)> done) = 0;
  // Adds it and waits until it has ended.
  virtual Result<void> run(JobSpec spec, Millis timeout) = 0;
  virtual Result<std::vector<JobInfo>> find(const JobFilter& filter) = 0;
};

std::unique_ptr<Producer> producer_of(Node& owner);  // the owner must outlive it
Result<std::unique_ptr<Producer>> producer_at(const std::string& endpoint);

// Keeps at most `window` adds without an answer. It must end before the producer.
class Pipeline final {
 public:
  Pipeline(Producer& producer, std::uint32_t window) : producer_(producer), window_(window) {}

  // Waits for room, then sends it off. The first failure of any add fails this and all that follow.
  Result<void> add(JobSpec spec);
  // Until all are answered.
  Result<void> finish();
  std::uint64_t answered() const;

 private:
  Result<void> await_pending(std::uint32_t most);
  void take(const Result<JobId>& answer);

  Producer& producer_;
  const std::uint32_t window_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t pending_ = 0;
  std::uint32_t awaited_ = 0;  // tell the waiter when no more than this are pending
  bool waiting_ = false;
  std::uint64_t answered_ = 0;
  std::optional<Error> failure_;
};

}  // namespace headrace::bench
