// Shadow: what stands on one machine's disk of its jobs, kept beside the store and without asking
// the Peer: as a kill of the process would leave it (written), and as a power cut must leave it
// (synced).
//
// Owned by a Machine; one thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/job/record.h"
#include "core/store/store.h"

namespace headrace::sim {

class Shadow final {
 public:
  struct Row {
    JobId id;
    JobState state = JobState::kQueued;
    Level level = Level::kDisk;
    unsigned attempts = 0;
    wire::Token answered;
    Bytes body;
  };
  struct Image {
    std::unordered_map<std::uint64_t, Row> jobs;            // by number
    std::unordered_map<std::uint64_t, wire::Token> active;  // the dispatch on record
    std::unordered_map<JobId, std::uint64_t> numbers;
    // Ever on record here: dispatches, and completions that were accepted.
    std::set<wire::Token> dispatched, answered;
    const Row* find(const JobId& id) const;
  };
  // Told of each row of a job that is put, before the image changes.
  using OnRow = std::function<void(const Row* before, std::uint64_t number, const Row& now)>;

  explicit Shadow(OnRow on_row) : on_row_(std::move(on_row)) {}

  void write(const WriteBatch& batch);
  void sync();
  // After a power cut: what is there, is there for good.
  void rebuild(const Snapshot& found);

  const Image& written() const { return written_; }
  const Image& synced() const { return synced_; }

 private:
  static void apply(Image& image, const WriteBatch& batch, const OnRow& on_row);
  static void put(Image& image, BytesView key, BytesView value, const OnRow& on_row);

  OnRow on_row_;
  Image written_, synced_;
  std::vector<WriteBatch> unsynced_;
};

}  // namespace headrace::sim
