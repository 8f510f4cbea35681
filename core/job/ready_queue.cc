#include "core/job/ready_queue.h"

#include <algorithm>

#include "core/base/check.h"

namespace headrace::job {

void ReadyQueue::found_on_disk(std::uint32_t topic, std::uint8_t priority) {
  topics_[topic].lanes[rank(priority)].disk_end = next_ - 1;
}

bool ReadyQueue::keeps(const Job& job) const {
  if (!job.stored()) return true;
  const auto topic = topics_.find(job.topic);
  if (topic == topics_.end()) return bytes_ < kHeadBytes;
  const auto lane = topic->second.lanes.find(rank(job.priority));
  if (lane == topic->second.lanes.end()) return bytes_ < kHeadBytes;
  return !lane->second.more() && lane->second.head.size() < kHeadJobs && bytes_ < kHeadBytes;
}

Job* ReadyQueue::push(JobPtr job) {
  const bool keep = keeps(*job);
  Topic& topic = topics_[job->topic];
  Lane& lane = topic.lanes[rank(job->priority)];
  if (!keep) {
    lane.disk_end = job->ready;
    return nullptr;
  }
  if (job->stored()) lane.cursor = lane.disk_end = job->ready;
  Job* kept = job.get();
  insert(topic, lane, std::move(job));
  return kept;
}

void ReadyQueue::pushed_on_disk(std::uint32_t topic, std::uint8_t priority, std::uint64_t ready) {
  topics_[topic].lanes[rank(priority)].disk_end = ready;
}

void ReadyQueue::put_back(JobPtr job) {
  Topic& topic = topics_[job->topic];
  Lane& lane = topic.lanes[rank(job->priority)];
  insert(topic, lane, std::move(job));
}

void ReadyQueue::insert(Topic& topic, Lane& lane, JobPtr job) {
  bytes_ += job->memory();
  ++topic.in_memory;
  if (lane.head.empty() || lane.head.back()->ready < job->ready) {
    lane.head.push_back(std::move(job));
    return;
  }
  const auto at = std::lower_bound(lane.head.begin(), lane.head.end(), job->ready,
                                   [](const JobPtr& one, std::uint64_t ready) { return one->ready < ready; });
  lane.head.insert(at, std::move(job));
}

bool ReadyQueue::has_ready(std::uint32_t topic) const { return in_memory(topic) > 0; }

std::size_t ReadyQueue::in_memory(std::uint32_t topic) const {
  const auto at = topics_.find(topic);
  return at == topics_.end() ? 0 : at->second.in_memory;
}

const Job* ReadyQueue::peek(std::uint32_t topic) const {
  const auto at = topics_.find(topic);
  if (at == topics_.end() || at->second.in_memory == 0) return nullptr;
  for (const auto& [order, lane] : at->second.lanes) {
    if (!lane.head.empty()) return lane.head.front().get();
  }
  return nullptr;
}

JobPtr ReadyQueue::pop(std::uint32_t number) {
  Topic& topic = topics_.at(number);
  for (auto& [order, lane] : topic.lanes) {
    if (lane.head.empty()) continue;
    JobPtr job = std::move(lane.head.front());
    lane.head.pop_front();
    --topic.in_memory;
    bytes_ -= job->memory();
    return job;
  }
  HEADRACE_CHECK(false && "pop from an empty topic");
  return {};
}

std::optional<ReadyQueue::Refill> ReadyQueue::next_refill(std::uint32_t number) {
  const auto at = topics_.find(number);
  if (at == topics_.end()) return {};
  for (auto& [order, lane] : at->second.lanes) {
    if (!lane.more() || lane.reading || lane.head.size() > kRefillJobs / 2) continue;
    if (bytes_ >= kHeadBytes && !lane.head.empty()) continue;
    lane.reading = true;
    return Refill{number, static_cast<std::uint8_t>(9 - order), lane.cursor, next_ - 1};
  }
  return {};
}

void ReadyQueue::refilled(const Refill& refill, std::vector<JobPtr> jobs, bool end) {
  Topic& topic = topics_.at(refill.topic);
  Lane& lane = topic.lanes.at(rank(refill.priority));
  lane.reading = false;
  if (!jobs.empty()) lane.cursor = std::max(lane.cursor, jobs.back()->ready);
  if (end) lane.cursor = std::max(lane.cursor, refill.bound);
  lane.disk_end = std::max(lane.disk_end, lane.cursor);
  for (auto& job : jobs) insert(topic, lane, std::move(job));
}

std::vector<std::uint32_t> ReadyQueue::topics() const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(topics_.size());
  for (const auto& [number, topic] : topics_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace headrace::job
