#include "core/job/history.h"

#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/wire/codec.h"

namespace headrace::job {
namespace {

constexpr std::size_t kSegmentJobs = 4096;

// Space in the key: the kind of ending stands where a queue's number stands.
keys::Key segment_key(unsigned kind, WallTime end, std::uint64_t first) {
  return keys::history({kind, end, first});
}

Bytes encode_entries(const std::vector<History::Entry>& entries) {
  Bytes bytes;
  wire::Writer out(bytes);
  out.array(entries.size());
  for (const auto& entry : entries) {
    out.array(entry.foreign_id ? 3 : 2).u64(entry.job).u64(static_cast<std::uint64_t>(entry.payload_apart) |
                           static_cast<std::uint64_t>(entry.foreign_id) << 1);
    if (entry.foreign_id) out.id(entry.id);
  }
  return bytes;
}

std::vector<History::Entry> decode_entries(BytesView body) {
  wire::Reader in(body);
  std::vector<History::Entry> entries(in.array(kSegmentJobs));
  for (auto& entry : entries) {
    in.array(3);
    entry.job = in.u64();
    const auto flags = in.u64();
    entry.payload_apart = (flags & 1) != 0;
    entry.foreign_id = (flags & 2) != 0;
    if (entry.foreign_id) entry.id = in.id<JobId>();
  }
  if (!in.ok()) entries.clear();
  return entries;
}

}  // namespace

void History::found(BytesView key, BytesView body) {
  const auto at = keys::parse_history(key);
  if (!at || at->queue > 1) return;
  Segment segment{at->end, at->job, decode_entries(body)};
  kept_[at->queue] += segment.entries.size();
  segments_[at->queue].push_back(std::move(segment));
}

void History::add(const Job& ended) {
  turn_[ended.state == JobState::kSucceeded ? 0 : 1].push_back(
      {ended.number, ended.payload_apart(), ended.foreign_id, ended.id});
}

void History::flush(WriteBatch& batch, WallTime now) {
  for (unsigned kind = 0; kind < 2; ++kind) {
    auto& entries = turn_[kind];
    for (std::size_t from = 0; from < entries.size(); from += kSegmentJobs) {
      const auto to = std::min(entries.size(), from + kSegmentJobs);
      Segment segment{now, entries[from].job, {entries.begin() + static_cast<std::ptrdiff_t>(from),
                                               entries.begin() + static_cast<std::ptrdiff_t>(to)}};
      record::put(batch, segment_key(kind, now, segment.first), kRecordVersion, encode_entries(segment.entries));
      kept_[kind] += segment.entries.size();
      segments_[kind].push_back(std::move(segment));
    }
    entries.clear();
  }
}

bool History::due(unsigned kind, WallTime now) const {
  if (segments_[kind].empty()) return false;
  const Segment& oldest = segments_[kind].front();
  if (kind == 1) return oldest.end + retention_.other_age <= now;
  return kept_[0] - oldest.entries.size() >= retention_.succeeded_count ||
         oldest.end + retention_.succeeded_age <= now;
}

bool History::purge_due(WallTime now) const { return due(0, now) || due(1, now); }

void History::purge(WriteBatch& batch, WallTime now, std::size_t limit) {
  std::size_t purged = 0;
  for (unsigned kind = 0; kind < 2; ++kind) {
    while (purged < limit && due(kind, now)) {
      Segment& oldest = segments_[kind].front();
      for (const auto& entry : oldest.entries) {
        batch.erase(keys::job(entry.job));
        if (entry.payload_apart) batch.erase(keys::payload(entry.job));
        if (entry.foreign_id) batch.erase(keys::job_id(entry.id));
      }
      batch.erase(segment_key(kind, oldest.end, oldest.first));
      kept_[kind] -= oldest.entries.size();
      purged += oldest.entries.size();
      segments_[kind].pop_front();
    }
  }
}

}  // namespace headrace::job
