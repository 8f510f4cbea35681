// How a dispatch ends without an outcome: handed back, taken back, claimed or not.
#include <algorithm>

#include "core/base/limits.h"
#include "core/job/job_owner.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/wire/codec.h"
#include "core/wire/kinds.h"

namespace headrace::job {
namespace {

constexpr Millis kAskSilent{1000};

}  // namespace

void JobOwner::take_back(const Now& now, std::uint64_t number, Charge charge) {
  const auto at = active_.find(number);
  if (at == active_.end()) return;
  Active active = std::move(at->second);
  active_.erase(at);
  end_flight(active);
  if (active.recovered) recovered_[active.dispatch.consumer].erase(number);
  ++counts_.taken_back;
  work_changed_ = true;
  JobPtr job = std::move(active.job);
  if (charge == Charge::kDelivery) {
    job->deliveries = active.dispatch.deliveries;
    // Failed attempts have a limit of their own.
    if (job->deliveries - std::min(job->deliveries, job->attempts) >= limits::kDeliveries) {
      job->consumer = active.dispatch.consumer;
      job->started = active.dispatch.started;
      job->error = "handed out " + std::to_string(job->deliveries) + " times without a word of how it ended";
      return finish(now, std::move(job), JobState::kGivenUp);
    }
  }
  if (!job->stored()) return ready_.put_back(std::move(job));
  WriteBatch& batch = host_.batch(job->level);
  batch.erase(keys::active(number));
  // Found active at open: its place is lost, and a new one lies beyond what its lane has read.
  if (job->ready == 0) return enqueue(std::move(job));
  if (charge == Charge::kDelivery) write_job(*job);
  Bytes body;
  wire::Writer(body).u64(number);
  record::put(batch, keys::ready({job->queue, job->topic, job->priority, job->ready}), kRecordVersion, body);
  ready_.put_back(std::move(job));
}

void JobOwner::take_back(const Now& now, const std::vector<std::uint64_t>& numbers, Charge charge) {
  for (const auto number : numbers) take_back(now, number, charge);
}

void JobOwner::on_state(const Now& now, const NodeId& from, Incarnation life, const wire::WindowId& window,
                        const wire::WindowState& state) {
  const auto at = consumers_.find({from, window.consumer});
  if (at == consumers_.end() || at->second.life != life) return;
  heard(now, at->first);
  std::vector<std::uint64_t> back;
  at->second.window.on_state(state, back);
  take_back(now, back, Charge::kNo);
  work_changed_ = true;
  wire::WindowOver over{state.session.receiver, at->second.window.over(state)};
  if (over.items.empty()) return;
  Bytes message;
  wire::Writer out(message);
  out.array(3).u64(wire::number(wire::Kind::kWindowOver));
  encode(out, window);
  encode(out, over);
  host_.send(from, wire::Lane::kControl, std::move(message), After::kNothing);
}

void JobOwner::on_hand_back(const Now& now, const NodeId& from, const wire::JobHandBack& back) {
  for (const auto& claim : back.jobs) {
    const auto at = active_.find(claim.job_number);
    if (at == active_.end() || at->second.dispatch.token != claim.token) continue;
    if (at->second.dispatch.consumer == from) take_back(now, claim.job_number, Charge::kNo);
  }
}

void JobOwner::on_claims(const Now& now, const NodeId& from, Incarnation life, const wire::JobClaims& claims) {
  wire::JobClaimsAck ack;
  std::set<std::uint64_t> claimed;
  for (const auto& claim : claims.jobs) {
    const auto at = active_.find(claim.job_number);
    if (at == active_.end() || at->second.dispatch.token != claim.token) {
      ack.refused.push_back(claim);
      continue;
    }
    claimed.insert(claim.job_number);
    at->second.lease = now.mono + kLease;
  }
  const auto numbers = recovered_[from];
  for (const auto number : numbers) {
    const auto at = active_.find(number);
    if (at == active_.end() || claimed.contains(number)) continue;
    if (number < claims.first || number > claims.last) continue;  // another message speaks for it
    // A later life of the consumer can't know what became of it; the same life says that it does not run it.
    take_back(now, number, at->second.dispatch.consumer_incarnation == life ? Charge::kNo : Charge::kDelivery);
  }
  // A completion that memory does not know may be on its way to a lookup: refusing its token here would lose
  // nothing, since only the current dispatch can still be accepted.
  Bytes message;
  wire::encode(message, ack);
  host_.send(from, wire::Lane::kControl, std::move(message), After::kDisk);
}

void JobOwner::drop_consumer(const Now& now, const ConsumerKey& key) {
  const auto at = consumers_.find(key);
  std::vector<std::uint64_t> back;
  for (const auto& [number, active] : active_) {
    if (active.dispatch.consumer == key.first && active.dispatch.consumer_number == key.second && !active.recovered) {
      back.push_back(number);
    }
  }
  std::sort(back.begin(), back.end());  // a hash map's order is no order to act in
  take_back(now, back, Charge::kDelivery);
  unmatch_topics(key, at->second);
  consumers_.erase(at);
}

void JobOwner::on_dead(const Now& now, const NodeId& node) {
  for (auto at = consumers_.lower_bound({node, 0}); at != consumers_.end() && at->first.first == node; ++at) {
    std::vector<std::uint64_t> back;
    at->second.window.on_dead(back);
    take_back(now, back, Charge::kDelivery);
  }
  take_back_recovered(now, node);
}

void JobOwner::forget(const Now& now, const NodeId& node) {
  ++forgotten_;  // it may come back in the same life, and remembers what was announced
  std::vector<ConsumerKey> gone;
  for (auto at = consumers_.lower_bound({node, 0}); at != consumers_.end() && at->first.first == node; ++at) {
    gone.push_back(at->first);
  }
  for (const auto& key : gone) drop_consumer(now, key);
  take_back_recovered(now, node);
  recovered_.erase(node);
}

void JobOwner::take_back_recovered(const Now& now, const NodeId& node) {
  const auto at = recovered_.find(node);
  if (at == recovered_.end()) return;
  const std::vector<std::uint64_t> numbers(at->second.begin(), at->second.end());
  take_back(now, numbers, Charge::kDelivery);
}

void JobOwner::on_alive(const NodeId& node) {
  for (auto at = consumers_.lower_bound({node, 0}); at != consumers_.end() && at->first.first == node; ++at) {
    at->second.window.on_alive();
  }
  work_changed_ = true;
}

void JobOwner::on_restarted(const Now& now, const NodeId& node, Incarnation life) {
  std::vector<ConsumerKey> gone;
  for (auto at = consumers_.lower_bound({node, 0}); at != consumers_.end() && at->first.first == node; ++at) {
    if (at->second.life < life) gone.push_back(at->first);
  }
  for (const auto& key : gone) drop_consumer(now, key);
  const auto numbers = recovered_[node];
  for (const auto number : numbers) {
    const auto at = active_.find(number);
    if (at != active_.end() && at->second.dispatch.consumer_incarnation < life) {
      take_back(now, number, Charge::kDelivery);
    }
  }
}

void JobOwner::check_leases(const Now& now) {
  next_lease_ = kNever;
  for (auto& [key, consumer] : consumers_) {
    if (consumer.silent) {
      consumer.window.on_alive();
      next_lease_ = std::min(next_lease_, now.mono + kAskSilent);
      continue;
    }
    if (consumer.window.flights() == 0) continue;
    const auto deadline = consumer.heard + kLease;
    if (deadline > now.mono) {
      next_lease_ = std::min(next_lease_, deadline);
      continue;
    }
    std::vector<std::uint64_t> back;
    consumer.window.on_dead(back);
    take_back(now, back, Charge::kDelivery);
    // Only its jobs are over: as a member it may well be alive, so its window goes on asking.
    consumer.window.on_alive();
    consumer.silent = true;
    next_lease_ = std::min(next_lease_, now.mono + kAskSilent);
  }
  std::vector<std::uint64_t> lapsed;
  for (const auto& [node, numbers] : recovered_) {
    for (const auto number : numbers) {
      const auto lease = active_.at(number).lease;
      if (lease <= now.mono) lapsed.push_back(number);
      else next_lease_ = std::min(next_lease_, lease);
    }
  }
  take_back(now, lapsed, Charge::kDelivery);
}

void JobOwner::held_up(Nanos duration) {
  for (auto& [key, consumer] : consumers_) consumer.heard += duration;
  for (auto& [number, active] : active_) {
    if (active.lease != kNever) active.lease += duration;
  }
}

}  // namespace headrace::job
