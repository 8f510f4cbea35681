#include "core/job/delayed_set.h"

namespace headrace::job {

void DelayedSet::add(const Entry& entry) {
  if (!complete_ && horizon_ < entry) {
    if (reading_) late_.push_back(entry);
    return;
  }
  soonest_.insert(entry);
  if (soonest_.size() <= kInMemory || reading_) return;
  // Too many: the latest go back to being on disk only. Unstored ones have no row, so they stay.
  auto last = std::prev(soonest_.end());
  while (last != soonest_.begin() && unstored_.contains(last->job)) --last;
  if (unstored_.contains(last->job)) return;
  soonest_.erase(last);
  complete_ = false;
  horizon_ = {};
  for (auto at = soonest_.rbegin(); at != soonest_.rend(); ++at) {
    if (unstored_.contains(at->job)) continue;
    horizon_ = *at;
    break;
  }
}

void DelayedSet::add_unstored(JobPtr job) {
  soonest_.insert(Entry{*job->due, job->number, job->topic, job->priority});
  const auto number = job->number;
  unstored_.emplace(number, std::move(job));
}

std::optional<DelayedSet::Entry> DelayedSet::pop_due(WallTime now, JobPtr& unstored) {
  if (soonest_.empty() || soonest_.begin()->due > now) return {};
  const Entry entry = *soonest_.begin();
  soonest_.erase(soonest_.begin());
  if (const auto at = unstored_.find(entry.job); at != unstored_.end()) {
    unstored = std::move(at->second);
    unstored_.erase(at);
  }
  return entry;
}

std::optional<WallTime> DelayedSet::next() const {
  if (soonest_.empty()) return {};
  return soonest_.begin()->due;
}

std::optional<DelayedSet::Entry> DelayedSet::next_refill() {
  if (complete_ || reading_ || soonest_.size() > kInMemory / 2) return {};
  reading_ = true;
  return horizon_;
}

void DelayedSet::refilled(const std::vector<Entry>& entries, bool end) {
  reading_ = false;
  soonest_.insert(entries.begin(), entries.end());
  if (!entries.empty()) horizon_ = entries.back();
  complete_ = end;
  for (const auto& entry : late_) {
    if (complete_ || entry < horizon_) soonest_.insert(entry);
  }
  late_.clear();
}

}  // namespace headrace::job
