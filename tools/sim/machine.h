// Machine: one machine of the simulated world: a disk that stays, and a process that runs a Peer on
// it, with its commit thread, its read thread and its handlers, and ends and starts again.
//
// Everything a node's loop does with a Peer is done here in virtual time: frames are gathered for
// each node and lane, commits are joined, reads wait for theirs. Owned by a World; one thread.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/peer/peer.h"
#include "core/store/memory_store.h"
#include "tools/sim/events.h"
#include "tools/sim/ledger.h"
#include "tools/sim/network.h"
#include "tools/sim/shadow.h"
#include "tools/sim/trace.h"

namespace headrace::sim {

// Mistakes of the world itself, so that tests can see each checker fail.
enum class Plant : std::uint8_t {
  kNone,
  kCommitsTooSoon,    // the disk says "synced" before it is
  kLosesWrites,       // the disk forgets a write that it has reported
  kRewritesOutcomes,  // a row of a job that has ended is written over
  kRunsTwice,         // a job is given to two handlers
  kSwallowsEnds,      // completions never arrive
  kSpoilsPayloads,    // a payload is changed on its way to the handler
  kAnswersTwice,      // a call is answered twice
  kDeafMachine,       // one machine hears nobody, for good
  kHalvesMarks,       // a consumer's mark is half of what it believes
  kCountsDeliveries,  // items claim more deliveries than a job may have
  kTalksAtRest,       // a message goes out though nothing is under way
  kGarblesFrames,     // frames arrive damaged
};

struct Disk {
  Nanos write{Micros{20}};
  Nanos sync{Micros{400}};
  double stall = 0;  // chance of a commit to take up to `stalled`
  Nanos stalled{Millis{800}};
  double failure = 0;  // chance of a commit to fail
};

struct ConsumerPlan {
  std::string topics;
  unsigned parallel = 1;
  std::optional<Marks> marks;
};

struct MachinePlan {
  MachineNumber number = 0;
  bool has_store = false;
  std::vector<ConsumerPlan> consumers;
  std::vector<std::string> seeds;
  std::string owner;
  Micros clock_offset{0};
};

std::string control_endpoint(MachineNumber machine);
std::string data_endpoint(MachineNumber machine);
MachineNumber machine_at(const std::string& endpoint);

// What a Machine is given of the world around it.
struct Surroundings {
  EventQueue& events;
  Random& random;
  Network& network;
  Ledger& ledger;
  Trace& trace;
  const Disk& disk;
  const Plant& plant;
  const bool& calm;  // faults are over: what hangs goes on
};

class Machine final {
 public:
  using Answered = std::function<void(const Result<Answer>& answer)>;

  Machine(Surroundings world, MachinePlan plan);
  ~Machine();

  // --- The process.
  void start();
  void kill();        // what was written stays
  void lose_power();  // what was synced stays
  void pause();
  void resume(bool told);  // whether the loop notices how long it stood still
  void stop_consuming();   // for good: it hands back what has not started
  void leave();            // then it ends, once that is said
  void let_hanging_end();  // handlers that would never return
  bool up() const { return process_ != nullptr; }
  bool paused() const { return paused_; }
  bool consumes() const { return consumes_; }
  void set_consumes(bool consumes) { consumes_ = consumes; }

  void receive(wire::Lane lane, const std::shared_ptr<const Bytes>& frame);
  void refused(const NodeId& node);

  // --- A program's calls; `answered` is not called if the process ends first.
  void add(const std::vector<Tag>& tags, Nanos patience, bool look_up, Answered answered);
  void get(const JobId& id, Answered answered);
  void wait(const JobId& id, Nanos patience, Answered answered);

  const MachinePlan& plan() const { return plan_; }
  NodeId id() const { return id_; }
  Incarnation incarnation() const { return incarnation_; }
  const Shadow& shadow() const { return shadow_; }
  const Peer* peer() const;
  job::Now now() const;  // by this machine's clocks
  bool idle() const;     // no run, no commit, no call, nothing of jobs in the Peer
  MonoTime last_job_mail() const { return last_job_mail_; }
  std::uint64_t last_job_kind() const { return last_job_kind_; }
  std::uint64_t turns() const { return turns_; }

 private:
  struct Process;
  using Input = std::function<void(Peer& peer, const job::Now& now)>;

  // machine.cc
  void end_process(bool power);
  Incarnation next_incarnation();
  void input(Input input);
  void input_soon(Nanos delay, Input input);  // unless the process ends before
  void wake();
  void turn();
  void watch_for_spin(bool had_input);
  void set_timer();
  void check_marks();

  // machine_actions.cc
  void carry_out(TurnOutput output);
  void act(Send& action);
  void act(SendEndpoint& action);
  void act(SendClient&) {}
  void act(Reach& action);
  void act(Unreach& action);
  void act(StartJob& action);
  void act(StopJob& action);
  void act(AnswerCall& action);
  void act(ClientSubscribe&) {}
  void act(ClientUnsubscribe&) {}
  void act(ClientPublish&) {}
  void act(MembersChanged&) {}
  void act(ReadyNow&) {}
  void act(IncarnationNeeded& action);
  void act(Note& action);
  void watch(const NodeId& to, BytesView message);
  void flush_links();
  void fill_slots(job::ConsumerNumber number);
  void begin_run(const StartJob& action);
  void end_run(job::RunId run);
  JobEnd end_of(const job::HeldJob& job, bool stopped) const;

  // machine_disk.cc
  void submit(Commit commit);
  void begin_commit();
  void finish_commit();
  void sync_late();
  void rewrite_outcome();
  void begin_anew(const Error& why);
  void submit_reads();
  void tear(bool power);

  std::string named() const;

  Surroundings world_;
  MachinePlan plan_;
  NodeId id_;
  std::unique_ptr<MemoryStore> store_;
  Shadow shadow_;
  Incarnation incarnation_ = 0;
  bool consumes_ = true;
  bool reopened_ = false;
  std::uint64_t last_call_ = 0;

  std::uint64_t life_ = 0;  // counts processes
  std::unique_ptr<Process> process_;
  bool paused_ = false;
  bool leaving_ = false;
  MonoTime last_job_mail_{};
  std::uint64_t last_job_kind_ = 0;
  std::uint64_t turns_ = 0;
};

}  // namespace headrace::sim
