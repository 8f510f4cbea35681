// The jobs of one queue that could be dispatched now: the head of each (topic, priority) in memory, the rest on disk.
//
// Owned by JobOwner, called by its thread. A lane's head holds the rows up to its cursor; the cursor only moves
// forward. A job that comes back keeps its ready number and re-enters through memory; a job that becomes due
// gets a new number. Invariants: a lane's head is sorted by ready number; no row at or below a lane's cursor is
// read from disk again; the memory of all heads stays below kHeadBytes plus one refill.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/job/record.h"

namespace headrace::job {

class ReadyQueue final {
 public:
  static constexpr std::size_t kHeadJobs = 8192;   // of one lane, before it spills to disk
  static constexpr std::size_t kRefillJobs = 4096; // read at a time, when half of them are used up
  static constexpr std::size_t kHeadBytes = 48 << 20;

  struct Refill {
    std::uint32_t topic = 0;
    std::uint8_t priority = 0;
    std::uint64_t above = 0;  // read rows with a greater ready number
    std::uint64_t bound = 0;  // rows up to this one are in the snapshot
  };

  explicit ReadyQueue(std::uint64_t next_number) : next_(next_number) {}

  std::uint64_t take_number() { return next_++; }
  std::uint64_t next_number() const { return next_; }

  // A lane with rows on disk, found at open.
  void found_on_disk(std::uint32_t topic, std::uint8_t priority);
  // Whether push() would keep a job in memory: if the lane's disk part is used up and there is room.
  bool keeps(const Job& job) const;
  // A new row with the number job->ready; returns the job if it is kept in memory. One that is not is read from
  // its row later.
  Job* push(JobPtr job);
  // A row that was written without its job in memory: a delayed job that became due.
  void pushed_on_disk(std::uint32_t topic, std::uint8_t priority, std::uint64_t ready);
  // A job that was popped and comes back under its old number.
  void put_back(JobPtr job);

  bool has_ready(std::uint32_t topic) const;
  // The best of `topic` by priority, then number; nothing if its head is empty.
  const Job* peek(std::uint32_t topic) const;
  JobPtr pop(std::uint32_t topic);
  std::size_t in_memory(std::uint32_t topic) const;

  // Marks a lane of `topic` as being read and says what to read; nothing if no lane needs it.
  std::optional<Refill> next_refill(std::uint32_t topic);
  // `jobs` sorted by ready number; `end`: there was no further row in the snapshot.
  void refilled(const Refill& refill, std::vector<JobPtr> jobs, bool end);

  std::vector<std::uint32_t> topics() const;
  std::size_t memory() const { return bytes_; }

 private:
  struct Lane {
    std::deque<JobPtr> head;
    std::uint64_t cursor = 0;    // every row up to here is, or was, in memory
    std::uint64_t disk_end = 0;  // the last row known on disk
    bool reading = false;
    bool more() const { return cursor < disk_end; }
  };
  struct Topic {
    std::map<int, Lane> lanes;   // by 9 - priority: the first is served first
    std::size_t in_memory = 0;
  };

  static int rank(std::uint8_t priority) { return 9 - priority; }
  void insert(Topic& topic, Lane& lane, JobPtr job);

  std::unordered_map<std::uint32_t, Topic> topics_;
  std::uint64_t next_;
  std::size_t bytes_ = 0;
};

}  // namespace headrace::job
