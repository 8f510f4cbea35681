// What has ended and is kept for a while: by age and by count, succeeded jobs shorter than the others.
//
// Owned by JobOwner. The jobs that end in one turn share one row, a segment: at some ten thousand endings a
// second an index row for each would cost as much as the jobs. A segment lists what must be erased with each job.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/job/record.h"
#include "core/store/batch.h"

namespace headrace::job {

struct Retention {
  std::chrono::seconds succeeded_age = std::chrono::hours{1};
  std::uint64_t succeeded_count = 10'000;
  std::chrono::seconds other_age = std::chrono::hours{24 * 7};
};

class History final {
 public:
  explicit History(Retention retention) : retention_(retention) {}

  struct Entry {
    std::uint64_t job = 0;
    bool payload_apart = false;
    bool foreign_id = false;
    JobId id;  // if foreign
  };

  // A segment found at open, in key order.
  void found(BytesView key, BytesView body);
  void add(const Job& ended);
  // Writes the segments of this turn.
  void flush(WriteBatch& batch, WallTime now);
  bool pending() const { return !turn_[0].empty() || !turn_[1].empty(); }

  // Erases jobs that need not be kept any longer, with their segments, until it has erased `limit` or more.
  void purge(WriteBatch& batch, WallTime now, std::size_t limit);
  bool purge_due(WallTime now) const;
  std::uint64_t count() const { return kept_[0] + kept_[1]; }

 private:
  struct Segment {
    WallTime end{};
    std::uint64_t first = 0;
    std::vector<Entry> entries;
  };
  bool due(unsigned kind, WallTime now) const;

  Retention retention_;
  std::vector<Entry> turn_[2];      // 0: succeeded, 1: the others
  std::deque<Segment> segments_[2];
  std::uint64_t kept_[2] = {0, 0};
};

}  // namespace headrace::job
