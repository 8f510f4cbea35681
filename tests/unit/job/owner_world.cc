#include "tests/unit/job/owner_world.h"

#include <algorithm>

#include "core/flow/period.h"
#include "core/job/lookup.h"
#include "core/store/keys.h"
#include "core/wire/blob.h"
#include "core/wire/kinds.h"

namespace headrace::job {

NewJob spec(const std::string& topic, int priority) {
  NewJob job;
  job.topic = topic;
  job.priority = static_cast<std::uint8_t>(priority);
  return job;
}

void OwnerWorld::open() {
  OwnerConfig config{self, life, random.next() | 1, retention_};
  owner = std::make_unique<JobOwner>(host, random, config);
  auto snapshot = store.snapshot();
  REQUIRE(snapshot);
  const auto opened = owner->open(now, **snapshot);
  INFO((opened ? std::string("opened") : opened.error().message));
  REQUIRE(opened);
}

void OwnerWorld::reopen() {
  owner.reset();
  host.pending.clear();
  host.sent.clear();
  host.reads.clear();
  store.reopen();
  ++life;
  open();
}

TestConsumer& OwnerWorld::consumer(std::uint64_t node, const std::string& topics, Marks marks,
                                   ConsumerNumber number) {
  consumers.push_back(std::make_unique<TestConsumer>(node_id(node), 1000, number, marks));
  advertise(*consumers.back(), topics);
  settle();
  return *consumers.back();
}

void OwnerWorld::advertise(const TestConsumer& consumer, const std::string& topics) {
  owner->set_consumers(now, consumer.node, consumer.life, {{consumer.number, topics, 1}});
}

JobId OwnerWorld::add(NewJob job, bool look_up) {
  std::vector<NewJob> jobs;
  jobs.push_back(std::move(job));
  return add_many(std::move(jobs), look_up).front();
}

std::vector<JobId> OwnerWorld::add_many(std::vector<NewJob> jobs, bool look_up) {
  const auto ticket = ++last_ticket;
  owner->add(now, ticket, std::move(jobs), look_up);
  settle();
  const auto at = host.answers.find(ticket);
  REQUIRE(at != host.answers.end());
  REQUIRE(at->second.ids);
  return *at->second.ids;
}

void OwnerWorld::turn() {
  owner->end_turn(now);
  if (!host.pending.empty()) REQUIRE(store.write(host.pending, host.sync));
  host.pending.clear();
  host.sync = false;
}

void OwnerWorld::settle() {
  for (int rounds = 0;; ++rounds) {
    REQUIRE(rounds < 10'000);
    turn();
    bool moved = !host.reads.empty();
    if (moved) {
      auto snapshot = store.snapshot();
      REQUIRE(snapshot);
      std::vector<Continuation> results;
      for (auto& task : std::exchange(host.reads, {})) results.push_back(task(**snapshot));
      for (auto& result : results) result(now);
    }
    moved |= deliver();
    moved |= collect();
    if (!moved && host.pending.empty()) return;
  }
}

bool OwnerWorld::deliver() {
  const bool any = !host.sent.empty();
  for (; !host.sent.empty(); host.sent.pop_front()) {
    for (auto& one : consumers) {
      if (one->node == host.sent.front().to && !one->deaf) receive(*one, host.sent.front());
    }
  }
  return any;
}

void OwnerWorld::receive(TestConsumer& consumer, const ScriptedHost::Sent& sent) {
  const SenderKey from{self, "default"};
  auto bytes = std::make_shared<Bytes>(sent.message);
  wire::Reader in(*bytes);
  in.array(64);
  const auto kind = static_cast<wire::Kind>(in.u64());
  wire::WindowId id;
  if (kind == wire::Kind::kJobItem) {
    wire::JobItem item;
    REQUIRE(decode(in, item));
    if (item.window.consumer != consumer.number) return;
    if (consumer.window.on_item(from, life, item.head) != Arrival::kTaken) return;
    consumer.held.push_back({bytes, item});
    consumer.history.push_back(item);
    consumer.kept.push_back(bytes);
  } else if (kind == wire::Kind::kAnnounce) {
    wire::Announce announce;
    decode(in, id);
    decode(in, announce);
    if (id.consumer == consumer.number) consumer.window.on_announce(from, life, announce);
  } else if (kind == wire::Kind::kMark) {
    wire::Mark mark;
    decode(in, id);
    decode(in, mark);
    if (id.consumer == consumer.number) consumer.window.on_mark(from, life, mark);
  } else if (kind == wire::Kind::kJobDoneAck) {
    wire::JobDoneAck ack;
    REQUIRE(decode(in, ack));
    for (const auto number : ack.accepted) consumer.answers[{ack.life, number}] = true;
    for (const auto number : ack.refused) consumer.answers[{ack.life, number}] = false;
  } else if (kind == wire::Kind::kJobClaimsAck) {
    wire::JobClaimsAck ack;
    REQUIRE(decode(in, ack));
    ++consumer.claims_answered;
    for (const auto& claim : ack.refused) consumer.claims_refused.push_back(claim);
  } else {
    REQUIRE(kind == wire::Kind::kBlob);
    wire::BlobPiece piece;
    REQUIRE(decode(in, piece));
    REQUIRE(blobs[piece.blob].size() == piece.offset);
    blobs[piece.blob].append(piece.bytes);
  }
  REQUIRE(in.ok());
}

bool OwnerWorld::collect() {
  bool any = false;
  for (auto& one : consumers) {
    std::vector<WindowReceiver::Outgoing> states;
    std::vector<WindowReceiver::Dropped> dropped;
    one->window.collect(states, dropped);
    for (const auto& drop : dropped) {
      std::erase_if(one->held, [&](const auto& job) { return job.item.head.id() == drop.item; });
    }
    if (one->deaf) continue;
    for (const auto& outgoing : states) {
      if (outgoing.state.sender != life) continue;
      owner->on_state(now, one->node, one->life, {one->number, "default"}, outgoing.state);
      any = true;
    }
  }
  return any;
}

void OwnerWorld::advance(Nanos duration) {
  const auto end = now.mono + duration;
  while (now.mono < end) {
    const auto step = std::min<Nanos>(kWindowPeriod, end - now.mono);
    now.mono += step;
    now.wall += std::chrono::duration_cast<Micros>(step);
    for (auto& one : consumers) {
      if (one->window.period_needed()) one->window.on_period();
    }
    if (owner->next_timer(now) <= now.mono) owner->tick(now);
    settle();
  }
}

wire::JobDone OwnerWorld::finish(TestConsumer& consumer, std::size_t i, JobEnd::Kind kind,
                                 const std::string& error, std::optional<Millis> retry_after) {
  const Arrived arrived = consumer.held.at(i);
  consumer.held.erase(consumer.held.begin() + static_cast<std::ptrdiff_t>(i));
  const SenderKey from{self, "default"};
  consumer.window.on_started(from, arrived.item.head.id());
  consumer.window.on_ended(from, arrived.item.head.id());
  wire::JobDone done;
  done.token = arrived.item.token;
  done.job_number = arrived.item.job_number;
  done.end = static_cast<std::uint8_t>(kind);
  static std::deque<std::string> texts;  // `done` holds views
  done.error = texts.emplace_back(error);
  done.retry_after = retry_after;
  this->done(consumer, done);
  consumer.window.on_acknowledged(from, life, arrived.item.head.id());
  settle();
  return done;
}

void OwnerWorld::done(const TestConsumer& from, const wire::JobDone& message) {
  owner->on_done(now, from.node, from.life, message);
  settle();
}

std::optional<JobInfo> OwnerWorld::info(const JobId& id) {
  if (auto known = owner->info_in_memory(now, id)) return known;
  auto snapshot = store.snapshot();
  REQUIRE(snapshot);
  auto number = owner->number_of(id);
  if (!number) {
    const auto row = read_job_number(**snapshot, id);
    REQUIRE(row);
    number = *row;
  }
  if (!number) return {};
  const auto found = read_job(**snapshot, *number);
  REQUIRE(found);
  if (!*found || (*found)->job.id != id) return {};
  const auto& [job, dispatch] = **found;
  return to_info(job, dispatch ? &*dispatch : nullptr, owner->topics().at(job.topic), self,
                 now.wall);
}

JobState OwnerWorld::state(const JobId& id) {
  const auto known = info(id);
  REQUIRE(known);
  return known->state;
}

bool OwnerWorld::has(BytesView key) {
  auto snapshot = store.snapshot();
  REQUIRE(snapshot);
  const auto row = (*snapshot)->get(key);
  REQUIRE(row);
  return row->has_value();
}

std::size_t OwnerWorld::rows(keys::Space space) {
  auto snapshot = store.snapshot();
  REQUIRE(snapshot);
  const auto cursor = (*snapshot)->cursor();
  std::size_t count = 0;
  for (cursor->seek(keys::space(space)); cursor->valid() && keys::in_space(cursor->key(), space);
       cursor->next()) {
    ++count;
  }
  return count;
}

}  // namespace headrace::job
