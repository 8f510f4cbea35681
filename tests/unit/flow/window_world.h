// A small world in virtual time that drives the real ends of job windows: owners with jobs, and
// consumers with slots, joined by lanes that lose, repeat, delay and swallow, among crashes, stalls
// and false rumours of death. Everything follows from the seed. After each step the invariants of
// the window are checked against the ledger; a breach throws Violation.
#pragma once

#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "core/base/random.h"
#include "core/flow/window_receiver.h"
#include "core/flow/window_sender.h"
#include "ledger.h"

namespace headrace::flow_test {

using Time = std::int64_t;  // microseconds
inline constexpr Time kMs = 1000;
inline constexpr Time kPeriod = 100 * kMs;

enum class Lengths { kExponential, kEqual, kFewLong };  // few long: one in twenty, 50 times longer

struct Shape {
  int receivers = 1, senders = 1;
  unsigned high = 8, low = 4, slots = 4;
  std::vector<std::uint64_t> weights{};
  Time job_mean = 10 * kMs;
  Lengths lengths = Lengths::kExponential;
  Time delay_min = 100, delay_max = 300, data_extra = 0;
  Time turn = 0;  // inputs of up to so long share a turn; 0: each has its own
};

struct Faults {
  double lose = 0, repeat = 0, late = 0;  // of a control message
  // Events a second.
  double break_lane = 0, stop = 0, crash = 0, false_death = 0, remark = 0, swallow = 0, give_up = 0;
};

class World final {
 public:
  World(const Shape& shape, std::uint64_t seed);

  void add_jobs(int sender, int count, Time at);
  void start_faults(const Faults& faults);
  void heal();  // no more faults; whoever is down or stopped comes back

  bool step();  // one event; false if there is none
  void run_until(Time time);
  Time now() const { return now_; }
  bool all_done() const { return finished_ == static_cast<int>(job_done_.size()); }
  bool nothing_held() const;
  void require_rest();  // everything ended once, and both ends agree on everything

  // Single faults.
  enum class LaneState : std::uint8_t { kWhole, kSwallowsData, kSwallowsAll };
  void set_lane(int sender, int receiver, LaneState state) { lane(sender, receiver).state = state; }
  void crash(int node, Time away);
  void restart(int node);
  void stop(int node) { nodes_[static_cast<std::size_t>(node)].stopped = true; }
  int node_of_sender(int sender) const { return shape_.receivers + sender; }

  // Measured since the last reset_measure().
  void reset_measure();
  double slots_used() const;           // share of slot time
  std::vector<double> places() const;  // share of place time, by sender
  double messages_an_item() const;     // of the window protocol
  std::int64_t window_messages() const { return window_messages_; }
  int done_by(int sender) const { return owners_[static_cast<std::size_t>(sender)].done; }
  Time first_start(int receiver) const;  // when its first job began; -1 before
  std::uint64_t held_of(int sender) const;
  const Ledger& ledger() const { return ledger_; }
  std::int64_t steps() const { return steps_; }

 private:
  enum class Kind : std::uint8_t { kItem, kMark, kAnnounce, kState, kDone, kDoneAck };
  struct Message {
    Kind kind{};
    int sender = 0, receiver = 0;  // the pair; the kind gives the direction
    Incarnation life = 0;          // of the sending end of the pair
    wire::Announce announce;
    wire::WindowState state;
    wire::ItemId item;
    int token = -1;
    bool cut = false;  // lost on a broken data lane
  };
  enum class What : std::uint8_t {
    kMail,
    kData,
    kBeat,
    kTurn,
    kJobEnd,
    kJob,
    kFault,
    kResume,
    kRestart,
    kDeadToReceiver,
    kNewLifeToReceiver,
    kDeadToSender,
    kAliveToSender,
    kLaneBack
  };
  struct Event {
    Time at = 0;
    std::int64_t order = 0;
    What what{};
    int node = -1;  // whom it happens to
    int other = 0;  // index of the other end, or of a job
    int arg = 0;    // message, token, life
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Held {
    int sender = 0;
    wire::ItemId item;
    int token = 0;
    bool running = false;
    Incarnation life = 0;
  };
  struct Consumer {
    Incarnation life = 1;
    Marks marks;
    std::optional<WindowReceiver> window;
    std::vector<Held> held, finished;
    std::uint64_t last_occupancy = 0;
    Time first_start = -1;
    double busy = 0;
  };
  struct Owner {
    Incarnation life = 1;
    std::vector<WindowSender> windows;
    std::deque<int> waiting;
    std::vector<int> undone;  // what its store holds
    std::size_t turn = 0;
    int done = 0;
    double place = 0;
  };
  struct Node {
    bool stopped = false, down = false, turn_posted = false;
    std::vector<Event> parked;
  };
  struct DataLane {
    LaneState state = LaneState::kWhole;
    Time last = 0;
    std::deque<int> flying;
  };

  Time pick(Time low, Time high) { return random_.between(low, high); }
  Consumer& consumer(int i) { return consumers_[static_cast<std::size_t>(i)]; }
  Owner& owner(int i) { return owners_[static_cast<std::size_t>(i)]; }
  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  DataLane& lane(int s, int r) {
    return lanes_[static_cast<std::size_t>(s * shape_.receivers + r)];
  }
  WindowSender& window(int s, int r) { return owner(s).windows[static_cast<std::size_t>(r)]; }
  const SenderKey& key(int s) const { return keys_[static_cast<std::size_t>(s)]; }

  void post(Time at, What what, int node, int other = 0, int arg = 0);
  void send(Message message);
  void handle(const Event& event);
  void after_input(int node);
  void account(Time until);
  Time job_length();

  // window_nodes.cc: what the nodes do.
  void begin_consumer(int r);
  void begin_owner(int s);
  void deliver(const Message& message);
  void take_in(const Message& message);
  void complete(const Message& message);
  void end_job(int r, int token);
  void consumer_period(int r);
  void owner_period(int s);
  void consumer_turn(int r);
  void owner_turn(int s);
  void dispatch(int s);
  void start_jobs(int r);
  void drop(int r, const WindowReceiver::Dropped& dropped);
  void tell_done(int r, const Held& held);
  void requeue(int s, const std::vector<std::uint64_t>& tokens, Ledger::End how);

  // window_faults.cc: what happens to them.
  void fault();
  void break_lane(int s, int r);
  void resume(int node);
  void remark(int r);
  void give_up(int r);

  void check(int node);
  void check_consumer(int r);
  void check_pair(int s, int r);

  Shape shape_;
  Faults faults_;
  bool faulty_ = false;
  Random random_;
  Ledger ledger_;
  std::vector<SenderKey> keys_;
  std::vector<Consumer> consumers_;
  std::vector<Owner> owners_;
  std::vector<Node> nodes_;  // consumers, then owners
  std::vector<DataLane> lanes_;
  std::vector<bool> job_done_;
  std::vector<Message> messages_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  Time now_ = 0, measured_from_ = 0;
  std::int64_t order_ = 0, steps_ = 0, window_messages_ = 0;
  int finished_ = 0, finished_before_ = 0;
  bool marks_moved_ = false;
  std::vector<WindowReceiver::Outgoing> states_;
  std::vector<WindowReceiver::Dropped> dropped_;
};

}  // namespace headrace::flow_test
