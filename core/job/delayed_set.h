// The jobs that wait for their time: the soonest in memory, the rest on disk. Owned by JobOwner.
// The same two rules as ReadyQueue: memory holds everything up to a horizon, and what lies beyond is read when
// the memory runs low.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/job/record.h"

namespace headrace::job {

class DelayedSet final {
 public:
  static constexpr std::size_t kInMemory = 50'000;

  struct Entry {
    WallTime due{};
    std::uint64_t job = 0;
    std::uint32_t topic = 0;
    std::uint8_t priority = 0;
    auto operator<=>(const Entry&) const = default;
  };

  // A stored job; its row under keys::delayed is the caller's.
  void add(const Entry& entry);
  void add_unstored(JobPtr job);  // of level memory

  // The next entry that is due; nothing if none is. An unstored one comes with its job.
  std::optional<Entry> pop_due(WallTime now, JobPtr& unstored);
  std::optional<WallTime> next() const;

  // Where to read on from; nothing while memory has enough or a read is under way.
  std::optional<Entry> next_refill();
  void refilled(const std::vector<Entry>& entries, bool end);
  void found_on_disk() { complete_ = false; }

 private:
  std::set<Entry> soonest_;
  std::unordered_map<std::uint64_t, JobPtr> unstored_;
  Entry horizon_{};        // if not complete: entries beyond it are on disk only
  bool complete_ = true;   // memory holds them all
  bool reading_ = false;
  std::vector<Entry> late_;  // beyond the horizon, added while a read is under way that may not see them
};

}  // namespace headrace::job
