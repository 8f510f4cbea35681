#include "nodes/runtime/runs.h"

#include <iterator>
#include <utility>

#include "core/base/check.h"

namespace headrace::runtime {

void Runs::add(const job::Now& now, Peer* peer, std::shared_ptr<const ConsumerEntry> consumer) {
  const auto key = consumer->key;
  if (peer != nullptr) {
    const auto number = peer->add_consumer(now, consumer->config);
    numbers_[key] = number;
    auto slots = std::make_shared<Slots>(workers_, report_, consumer->config.parallel);
    by_number_[number] = {consumer, std::move(slots), {}};
  }
  consumers_.emplace(key, std::move(consumer));
}

void Runs::stop(const job::Now& now, Peer* peer, std::uint64_t key) {
  consumers_.erase(key);
  const auto number = numbers_.find(key);
  if (number == numbers_.end()) return;
  const auto unstarted = withdraw(by_number_.at(number->second));
  if (peer != nullptr) {
    peer->stop_consumer(now, number->second);
    peer->not_started(now, unstarted);
  }
  std::erase(dirty_, number->second);
  by_number_.erase(number->second);  // its runs hold the handler
  numbers_.erase(number);
}

void Runs::stop_consuming(const job::Now& now, Peer& peer) {
  peer.stop_consuming(now);
  for (auto& [number, bound] : by_number_) peer.not_started(now, withdraw(bound));
}

std::vector<job::RunId> Runs::withdraw(Bound& bound) {
  auto unstarted = bound.slots->withdraw();
  std::move(bound.starts.begin(), bound.starts.end(), std::back_inserter(unstarted));
  bound.starts.clear();
  std::vector<job::RunId> runs;
  for (const auto& state : unstarted) {
    runs.push_back(state->run);
    runs_.erase(state->run);
  }
  return runs;
}

void Runs::bind(const job::Now& now, Peer& peer, std::uint64_t era) {
  for (auto& [number, bound] : by_number_) withdraw(bound);
  stop_all();
  runs_.clear();
  dirty_.clear();
  numbers_.clear();
  by_number_.clear();
  era_ = era;
  for (const auto& [key, consumer] : std::exchange(consumers_, {})) add(now, &peer, consumer);
}

void Runs::start(StartJob start) {
  const auto consumer = by_number_.find(start.consumer);
  HEADRACE_CHECK(consumer != by_number_.end());  // a stopped one starts nothing
  Bound& bound = consumer->second;
  auto state = std::make_shared<RunningJobState>();
  state->consumer = bound.entry;
  state->job = std::move(start.job);
  state->era = era_;
  state->run = start.run;
  runs_.emplace(start.run, state);
  if (bound.starts.empty()) dirty_.push_back(start.consumer);
  bound.starts.push_back(std::move(state));
}

void Runs::flush() {
  for (const auto number : dirty_) {
    Bound& bound = by_number_.at(number);
    bound.slots->add(bound.starts);
  }
  dirty_.clear();
}

void Runs::stop(job::RunId run) {
  const auto found = runs_.find(run);
  if (found != runs_.end()) found->second->stopping.store(true, std::memory_order_relaxed);
}

void Runs::stop_all() {
  for (const auto& [run, state] : runs_) state->stopping.store(true, std::memory_order_relaxed);
}

void Runs::ended(const job::Now& now, Peer& peer, JobEnded ended) {
  if (ended.era != era_) return;
  runs_.erase(ended.run);
  peer.on_job_ended(now, ended.run, std::move(ended.end), ended.took);
}

}  // namespace headrace::runtime
