// Giving jobs to consumers.
#include <algorithm>
#include <utility>

#include "core/base/limits.h"
#include "core/flow/period.h"
#include "core/job/job_owner.h"
#include "core/store/keys.h"
#include "core/store/record.h"
#include "core/wire/blob.h"
#include "core/wire/kinds.h"

namespace headrace::job {

void JobOwner::match_topics(const ConsumerKey& key, Consumer& consumer) {
  const auto& texts = topics_.texts();
  for (std::uint32_t number = 1; number < texts.size(); ++number) {
    if (texts[number].empty() || !consumer.topics.matches(texts[number])) continue;
    consumer.matching.push_back(number);
    takers_[number].push_back(key);
  }
}

void JobOwner::unmatch_topics(const ConsumerKey& key, Consumer& consumer) {
  for (const auto topic : consumer.matching) std::erase(takers_[topic], key);
  consumer.matching.clear();
}

void JobOwner::set_consumers(const Now& now, const NodeId& node, Incarnation life,
                             const std::vector<ConsumerAdvert>& adverts) {
  std::vector<ConsumerKey> gone;
  for (auto at = consumers_.lower_bound({node, 0}); at != consumers_.end() && at->first.first == node; ++at) {
    auto& [key, consumer] = *at;
    if (consumer.life != life) {
      gone.push_back(key);
      continue;
    }
    consumer.retired = std::none_of(adverts.begin(), adverts.end(),
                                    [&](const auto& advert) { return advert.number == at->first.second; });
    unmatch_topics(key, consumer);
    if (!consumer.retired) match_topics(key, consumer);
  }
  for (const auto& key : gone) drop_consumer(now, key);
  for (const auto& advert : adverts) {
    const ConsumerKey key{node, advert.number};
    const auto topics = TopicPattern::parse(advert.topics);
    if (!topics || consumers_.contains(key)) continue;
    const auto at = consumers_
                        .emplace(key, Consumer{life,
                                               *topics,
                                               WindowSender(config_.incarnation, forgotten_ << 32),
                                               {},
                                               0,
                                               now.mono,
                                               false,
                                               false})
                        .first;
    match_topics(key, at->second);
  }
  work_changed_ = true;
}

void JobOwner::dispatch_all(const Now& now) {
  // The best head of each topic that somebody with credit takes, as a heap: highest priority, then oldest.
  struct Head {
    std::uint8_t priority;
    std::uint64_t ready;
    std::uint32_t topic;
    bool operator<(const Head& other) const {
      return priority != other.priority ? priority < other.priority : ready > other.ready;
    }
  };
  std::vector<Head> heads;
  const auto push_head = [&](std::uint32_t topic) {
    const Job* job = ready_.peek(topic);
    if (job == nullptr) return;
    heads.push_back({job->priority, job->ready, topic});
    std::push_heap(heads.begin(), heads.end());
  };
  std::set<std::uint32_t> topics;
  for (const auto& [key, consumer] : consumers_) {
    if (consumer.credit() > 0) topics.insert(consumer.matching.begin(), consumer.matching.end());
  }
  for (const auto topic : topics) push_head(topic);
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end());
    const auto topic = heads.back().topic;
    heads.pop_back();
    ConsumerKey key;
    Consumer* consumer = best_consumer(topic, key);
    if (consumer == nullptr) continue;  // its credit is used up
    dispatch(now, key, *consumer, ready_.pop(topic));
    push_head(topic);
  }
}

// The one with the largest part of its window free first, so that a newcomer, whose window is still
// small, is not passed over for one that has grown; ties in rotation, so that nobody is served by
// the accident of an order.
JobOwner::Consumer* JobOwner::best_consumer(std::uint32_t topic, ConsumerKey& key) {
  const auto at = takers_.find(topic);
  if (at == takers_.end()) return nullptr;
  Consumer* best = nullptr;
  const auto freer = [](const Consumer& one, const Consumer& other) {
    return one.credit() * (other.credit() + other.window.flights()) >
           other.credit() * (one.credit() + one.window.flights());
  };
  const auto& takers = at->second;
  ++rotation_;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    const auto& candidate = takers[(i + rotation_) % takers.size()];
    Consumer& consumer = consumers_.at(candidate);
    if (consumer.credit() == 0) {
      consumer.passed_over = true;
      continue;
    }
    if (best != nullptr && !freer(consumer, *best)) continue;
    best = &consumer;
    key = candidate;
  }
  return best;
}

void JobOwner::dispatch(const Now& now, const ConsumerKey& key, Consumer& consumer, JobPtr job) {
  if (consumer.window.flights() == 0) consumer.heard = now.mono;  // a lease begins with its job
  const bool fresh = job->unwritten;
  if (fresh) write_rows(*job);
  Active active;
  active.dispatch = {{config_.life, ++dispatches_}, key.first, consumer.life, key.second, job->deliveries + 1, now.wall};
  if (job->stored()) {
    WriteBatch& batch = host_.batch(job->level);
    if (!fresh) batch.erase(keys::ready({job->queue, job->topic, job->priority, job->ready}));
    Bytes body;
    encode(body, active.dispatch);
    record::put(batch, keys::active(job->number), kRecordVersion, body);
  }
  ++counts_.dispatched;
  const auto number = job->number;
  const bool load = job->payload_apart() && job->payload.empty();
  active.job = std::move(job);
  Active& placed = active_.emplace(number, std::move(active)).first->second;
  if (load) {
    ++consumer.loading;
    return load_and_send(key, placed);
  }
  send_item(key, consumer, placed, placed.job->payload, after(placed.job->level));
  if (placed.job->payload_apart()) placed.job->payload = {};
}

// The number in the window is taken when the job is sent, since numbers that come late count as lost.
void JobOwner::load_and_send(const ConsumerKey& key, const Active& active) {
  const auto number = active.job->number;
  const auto token = active.dispatch.token;
  host_.read([this, key, number, token](const Snapshot& snapshot) -> Continuation {
    auto payload = std::make_shared<Result<Bytes>>(read_payload(snapshot, number));
    return [this, key, number, token, payload](const Now& now) {
      const auto consumer = consumers_.find(key);
      if (consumer != consumers_.end() && consumer->second.loading > 0) --consumer->second.loading;
      const auto at = active_.find(number);
      if (at == active_.end() || at->second.dispatch.token != token) return;
      work_changed_ = true;
      if (!*payload) {
        host_.note((*payload).error().message);
        Active lost = std::move(at->second);
        active_.erase(at);
        lost.job->error = (*payload).error().message;
        return finish(now, std::move(lost.job), JobState::kError);
      }
      if (consumer == consumers_.end() || consumer->second.retired || consumer->second.silent ||
          consumer->second.window.credit() == 0) {
        return take_back(now, number, Charge::kNo);
      }
      if (consumer->second.window.flights() == 0) consumer->second.heard = now.mono;
      send_item(key, consumer->second, at->second, **payload, After::kNothing);
    };
  });
}

void JobOwner::send_item(const ConsumerKey& key, Consumer& consumer, Active& active, BytesView payload, After after) {
  const Job& job = *active.job;
  wire::JobItem item;
  item.window = {key.second, "default"};
  item.head = consumer.window.take_item(job.number);
  item.token = active.dispatch.token;
  item.job_number = job.number;
  item.id = job.id;
  item.topic = topics_.text(job.topic);
  item.attempt = job.attempts + 1;
  item.deliveries = active.dispatch.deliveries;
  item.params = job.params;
  if (payload.size() > limits::kChunkBytes) {
    item.payload.blob = host_.next_blob();
    wire::cut_blob(item.payload.blob, payload, limits::kChunkBytes,
                   [&](Bytes piece) { host_.send(key.first, wire::Lane::kData, std::move(piece), after); });
  } else {
    item.payload.inlined = payload;
  }
  active.item = item.head.id();
  Bytes message;
  message.reserve(160 + item.topic.size() + item.params.size() + item.payload.inlined.size());
  wire::encode(message, item);
  host_.send(key.first, wire::Lane::kData, std::move(message), after);
}

// What each consumer could be sent now, beyond what it is being sent. One without credit is asked for
// some also when others had room for all there was: else a newcomer beside them would stay idle.
void JobOwner::set_wants() {
  for (auto& [key, consumer] : consumers_) {
    std::size_t want = 0;
    for (const auto topic : consumer.matching) {
      want += ready_.in_memory(topic);
      if (want >= limits::kHighWaterMark) break;
    }
    if (std::exchange(consumer.passed_over, false)) want = std::max<std::size_t>(want, 1);
    consumer.window.set_want(std::min<std::size_t>(want, limits::kHighWaterMark));
  }
}

void JobOwner::flush_windows() {
  for (auto& [key, consumer] : consumers_) {
    const auto outgoing = consumer.window.collect();
    const wire::WindowId window{key.second, "default"};
    if (outgoing.announce) {
      Bytes message;
      wire::Writer out(message);
      out.array(3).u64(wire::number(wire::Kind::kAnnounce));
      encode(out, window);
      encode(out, *outgoing.announce);
      host_.send(key.first, wire::Lane::kControl, std::move(message), After::kNothing);
    }
    if (outgoing.mark) {
      Bytes message;
      wire::Writer out(message);
      out.array(3).u64(wire::number(wire::Kind::kMark));
      encode(out, window);
      encode(out, *outgoing.mark);
      host_.send(key.first, wire::Lane::kData, std::move(message), After::kNothing);
    }
  }
}

// A retired consumer stays until it has ended what it runs and has its credit back: it would ask for ever.
void JobOwner::drop_retired() {
  for (auto at = consumers_.begin(); at != consumers_.end();) {
    const auto& consumer = at->second;
    const bool over = consumer.retired && consumer.loading == 0 && consumer.window.flights() == 0 &&
                      consumer.window.credit() == 0 && !consumer.window.period_needed();
    at = over ? consumers_.erase(at) : std::next(at);
  }
}

void JobOwner::refill() {
  std::set<std::uint32_t> topics;
  for (const auto& [key, consumer] : consumers_) topics.insert(consumer.matching.begin(), consumer.matching.end());
  for (const auto topic : topics) {
    while (const auto wanted = ready_.next_refill(topic)) {
      host_.read([this, refill = *wanted](const Snapshot& snapshot) -> Continuation {
        auto rows = std::make_shared<RefillRows>(read_refill(snapshot, 1, refill, ReadyQueue::kRefillJobs));
        return [this, refill, rows](const Now&) {
          for (auto& fault : rows->faults) host_.note(std::move(fault));
          ready_.refilled(refill, std::move(rows->jobs), rows->end);
          work_changed_ = true;
        };
      });
    }
  }
}

}  // namespace headrace::job
