// Runs: the consumers of this node and what their handlers are running.
//
// Owned by the loop and called by its thread; the handlers run on workers, which report their ends
// through `report`. Consumers outlive the Peer: a new one is told of them by bind(). Runs belong to
// one Peer's life, an era; the end of one that began in an earlier era concerns nobody any more.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/peer/peer.h"
#include "nodes/runtime/consumer_entry.h"
#include "nodes/runtime/slots.h"
#include "nodes/runtime/workers.h"

namespace headrace::runtime {

class Runs final {
 public:
  using Report = Slots::Report;
  Runs(Workers& workers, Report report) : workers_(workers), report_(std::move(report)) {}

  // `peer` may be null: then the consumer waits for bind().
  void add(const job::Now& now, Peer* peer, std::shared_ptr<const ConsumerEntry> consumer);
  // Nothing of it begins any more.
  void stop(const job::Now& now, Peer* peer, std::uint64_t key);
  void stop_consuming(const job::Now& now, Peer& peer);
  // A new Peer begins: what runs is told to stop, and the consumers are registered with it.
  void bind(const job::Now& now, Peer& peer, std::uint64_t era);

  void start(StartJob start);  // leaves for the workers with flush()
  void stop(job::RunId run);
  void stop_all();
  // Hands the end to `peer` if it is of its era.
  void ended(const job::Now& now, Peer& peer, JobEnded ended);
  void flush();

  bool idle() const { return runs_.empty(); }

 private:
  Workers& workers_;
  const Report report_;
  std::uint64_t era_ = 0;
  std::map<std::uint64_t, std::shared_ptr<const ConsumerEntry>> consumers_;  // by key
  std::map<std::uint64_t, job::ConsumerNumber> numbers_;                     // by key
  struct Bound {
    std::shared_ptr<const ConsumerEntry> entry;
    std::shared_ptr<Slots> slots;
    std::vector<std::shared_ptr<RunningJobState>> starts;  // since the last flush()
  };
  std::vector<job::RunId> withdraw(Bound& bound);

  std::map<job::ConsumerNumber, Bound> by_number_;
  std::unordered_map<job::RunId, std::shared_ptr<RunningJobState>> runs_;
  std::vector<job::ConsumerNumber> dirty_;  // with starts
};

}  // namespace headrace::runtime
