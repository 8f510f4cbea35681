// What a machine holds of a running process: gone with it. Internal to Machine.
#pragma once

#include "tools/sim/machine.h"

namespace headrace::sim {

// Of the event plane's port only the calls are taken.
class QuietEvents final : public EventPort {
 public:
  void set_member(const NodeId&, Incarnation, BytesView) override {}
  void remove_member(const NodeId&) override {}
  void receive(const job::Now&, const NodeId&, Incarnation, BytesView,
               const std::shared_ptr<const void>&) override {}
};

struct Machine::Process {
  struct Link {
    Reach reach;
    std::array<wire::FrameBuilder, 2> lanes;
  };
  struct Run {
    job::ConsumerNumber consumer = 0;
    std::shared_ptr<const job::HeldJob> job;
    MonoTime began{};
    bool stopping = false;
    bool hangs = false;
    bool due = false;  // would have ended while the process stood still
  };
  struct Consumer {
    unsigned slots = 0, running = 0;
    std::deque<StartJob> handed;  // behind the slots' runs
    std::uint64_t occupancy = 0;  // after the last turn
    unsigned high = 0;            // before that
  };

  QuietEvents events;
  std::unique_ptr<Peer> peer;
  std::map<NodeId, Link> links;
  std::array<std::unique_ptr<wire::FrameBuilder>, 2> own;
  std::map<job::RunId, Run> runs;
  std::map<job::ConsumerNumber, Consumer> consumers;
  std::map<CallNumber, Answered> calls;

  // The loop.
  std::deque<Input> inputs;
  bool turn_due = false;
  bool ticked_for_nothing = false;
  std::uint64_t timer = 0;  // the newest
  MonoTime paused_at{};
  Nanos held_up{0};
  unsigned idle_turns = 0;
  MonoTime idle_since{};

  // The disk's threads.
  std::vector<Commit> pending, under_way;
  bool committing = false;
  CommitNumber submitted = 0, written = 0, synced = 0;
  bool sync_waits = false;
  std::vector<Read> reads;
  std::optional<Error> failed;  // the store's handle is dead
  std::optional<Error> known_later;
};

}  // namespace headrace::sim
