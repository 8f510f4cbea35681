// A JobOwner on a store in memory, with consumers whose windows are real and whose handlers are the test.
//
// Time stands still until advance(). settle() runs turns, writes their batches, carries the mail both ways
// and answers reads, until nothing is on its way.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/flow/window_receiver.h"
#include "core/job/job_owner.h"
#include "core/store/keys.h"
#include "core/store/memory_store.h"
#include "core/wire/kinds.h"

namespace headrace::job {

inline NodeId node_id(std::uint64_t n) { return NodeId::from_halves(n << 32 | 7, n); }

class ScriptedHost final : public Host {
 public:
  struct Sent {
    NodeId to;
    wire::Lane lane;
    Bytes message;
    After after;
  };
  struct AddAnswer {
    Result<std::vector<JobId>> ids;
    Level level;
  };

  WriteBatch& batch(Level level) override {
    REQUIRE(level != Level::kMemory);
    if (level == Level::kDisk) sync = true;
    return pending;
  }
  void send(const NodeId& to, wire::Lane lane, Bytes message, After after) override {
    sent.push_back({to, lane, std::move(message), after});
  }
  void read(ReadTask task) override { reads.push_back(std::move(task)); }
  std::uint64_t next_blob() override { return ++last_blob; }
  void note(std::string text) override { notes.push_back(std::move(text)); }
  void added(Ticket ticket, Result<std::vector<JobId>> ids, Level level) override {
    REQUIRE(answers.emplace(ticket, AddAnswer{std::move(ids), level}).second);  // once each
  }
  void ended(const Job& job) override { ends.emplace_back(job.id, job.state); }

  WriteBatch pending;
  bool sync = false;
  std::deque<Sent> sent;
  std::vector<ReadTask> reads;
  std::map<Ticket, AddAnswer> answers;
  std::vector<std::pair<JobId, JobState>> ends;
  std::vector<std::string> notes;
  std::uint64_t last_blob = 0;
};

// A dispatch as it arrived, with the bytes that it looks into.
struct Arrived {
  std::shared_ptr<Bytes> bytes;
  wire::JobItem item;
  bool started = false;
};

class TestConsumer {
 public:
  TestConsumer(NodeId its_node, Incarnation its_life, ConsumerNumber its_number, Marks marks)
      : node(its_node), life(its_life), number(its_number), window(its_life, marks) {}

  const Arrived& job(std::size_t i = 0) const { return held.at(i); }

  NodeId node;
  Incarnation life;
  ConsumerNumber number;
  WindowReceiver window;
  std::vector<Arrived> held;           // taken in and not finished
  std::vector<wire::JobItem> history;  // every item taken; views into `kept`
  std::vector<std::shared_ptr<Bytes>> kept;
  std::map<wire::Token, bool> answers;  // by token: accepted?
  std::vector<wire::JobClaim> claims_refused;
  std::size_t claims_answered = 0;
  bool deaf = false;  // neither hears nor says anything
};

class OwnerWorld {
 public:
  static constexpr Incarnation kOwnerLife = 100;

  explicit OwnerWorld(Retention retention = {}) : retention_(retention) { open(); }

  void open();
  void reopen();  // the process ended and starts again

  TestConsumer& consumer(std::uint64_t node, const std::string& topics = "*", Marks marks = {4, 1},
                         ConsumerNumber number = 1);
  void advertise(const TestConsumer& consumer, const std::string& topics = "*");

  // Adds one job, or several, and settles; the ids told.
  JobId add(NewJob job, bool look_up = false);
  std::vector<JobId> add_many(std::vector<NewJob> jobs, bool look_up = false);

  void turn();    // one turn and its commit; mail stays where it is
  void settle();  // until nothing moves
  void advance(Nanos duration);

  // The consumer's handler for its i-th held job ends.
  wire::JobDone finish(TestConsumer& consumer, std::size_t i = 0,
                       JobEnd::Kind kind = JobEnd::Kind::kOk, const std::string& error = "",
                       std::optional<Millis> retry_after = {});
  void done(const TestConsumer& from, const wire::JobDone& message);

  std::optional<JobInfo> info(const JobId& id);
  JobState state(const JobId& id);
  bool has(BytesView key);
  std::size_t rows(keys::Space space);

  Now now{MonoTime{std::chrono::hours{1}}, WallTime{std::chrono::hours{24 * 365 * 50}}};
  MemoryStore store;
  Random random{17};
  ScriptedHost host;
  std::unique_ptr<JobOwner> owner;
  std::vector<std::unique_ptr<TestConsumer>> consumers;
  NodeId self = node_id(1);
  Incarnation life = kOwnerLife;
  Ticket last_ticket = 0;
  std::map<std::uint64_t, Bytes> blobs;  // payloads that came in pieces

 private:
  bool deliver();
  bool collect();
  void receive(TestConsumer& consumer, const ScriptedHost::Sent& sent);

  Retention retention_;
};

NewJob spec(const std::string& topic = "work", int priority = 4);

}  // namespace headrace::job
