// The receiving end of a job window: what one consumer is willing to hold unfinished, shared out
// among all senders (owner and queue) that have work for it.
//
// Owned by the consumer's intake; called by the thread that owns the protocol state. Nothing
// blocks, nothing reads a clock. Feed it with whatever arrives and happens; call collect() once per
// turn, after the inputs of that turn and before its mail leaves: there credit is granted and
// states are put together, so that the cost of both is shared by the whole turn. Call on_period()
// every kWindowPeriod as long as period_needed().
//
// Invariants, whatever the senders do: occupancy <= high mark (after it was lowered: does not
// grow), and occupancy + reserves <= high mark; an honest sender's item that is within its credit
// is never refused; nothing is taken in twice, nor after its sender was told that it has ended.
// Occupancy counts each item that is held and unfinished, running or not, whoever sent it. Numbers
// that no honest sender could announce are ignored.
//
// Limits: limits::kWindowSenders senders; of each at most limits::kHeldItems items listed. Cost:
// O(log senders) an input, O(senders) a collect() that grants, O(items) a full state.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/flow/item_list.h"
#include "core/flow/marks.h"
#include "core/flow/split.h"
#include "core/wire/window.h"

namespace headrace {

struct SenderKey {
  NodeId node;
  std::string queue;

  auto operator<=>(const SenderKey&) const = default;
};

enum class Arrival {
  kTaken,    // hold it, run it, say how it ended
  kRefused,  // forget it: the next state tells its sender
  kDropped,  // forget it: late, repeated, or from an earlier life of its sender
};

class WindowReceiver final {
 public:
  struct Outgoing {
    SenderKey to;
    wire::WindowState state;
  };
  // An item that was taken and not started, and must not be run any more.
  struct Dropped {
    SenderKey from;
    wire::ItemId item;

    bool operator==(const Dropped&) const = default;
  };

  // `self` is this node's incarnation; `marks` are valid (make_marks).
  WindowReceiver(Incarnation self, Marks marks) : self_(self), marks_(marks) {}

  // Mail. `life` is the incarnation of the sending node.
  Arrival on_item(const SenderKey& from, Incarnation life, const wire::ItemHead& head);
  void on_mark(const SenderKey& from, Incarnation life, const wire::Mark& mark);
  void on_announce(const SenderKey& from, Incarnation life, const wire::Announce& announce);
  // The owner has the outcome of `item`: it leaves the list.
  void on_acknowledged(const SenderKey& from, Incarnation life, const wire::ItemId& item);

  // What became of an item taken. Before it starts: false if it must not, because it was dropped
  // (collect() will say so).
  bool on_started(const SenderKey& from, const wire::ItemId& item);
  // Its place is free at once. True: keep the completion and repeat it until acknowledged. False:
  // nobody waits for it, the sender has begun a new life.
  bool on_ended(const SenderKey& from, const wire::ItemId& item);
  // It has not run and is not to: goes back to its sender uncharged. Also after on_started(), when
  // it turns out that its run never began. False if it had ended or was dropped.
  bool hand_back(const SenderKey& from, const wire::ItemId& item);
  // Its sender has taken it back: off the list; one that runs has its place until on_ended(). False
  // if it had ended.
  bool on_over(const SenderKey& from, const wire::ItemId& item);

  // What membership says of a node.
  void on_dead(const NodeId& node);
  void on_incarnation(const NodeId& node, Incarnation life);
  void forget(const NodeId& node);  // it left the member view

  void on_period();
  bool period_needed() const { return period_needed_; }

  void set_marks(Marks marks);
  // Of the sender in the split, 1 to limits::kWindowWeight.
  void set_weight(const SenderKey& sender, std::uint64_t weight);
  // For a consumer that leaves: takes in nothing more and asks all credit back.
  void stop();

  // Appends the states to send now and the items to drop.
  void collect(std::vector<Outgoing>& states, std::vector<Dropped>& dropped);

  Marks marks() const { return marks_; }
  std::uint64_t occupancy() const { return occupancy_; }
  std::uint64_t reserve() const { return reserve_; }  // credit given out and not under use, of all
  bool idle() const { return occupancy_ == 0 && finished_ == 0; }
  // True while states list the item, which renews its lease: held, or finished and unacknowledged.
  bool lists(const SenderKey& sender, const wire::ItemId& item) const;

  // What the window knows of one sender; for display and tests.
  struct View {
    wire::Session session;
    Incarnation life = 0;
    std::uint64_t limit = 0, passed = 0, burned = 0, want = 0, ask = 0;
    std::uint64_t held = 0, finished = 0;
  };
  View view(const SenderKey& sender) const;

 private:
  enum class Stage : std::uint8_t {
    kWaiting,
    kStarted,
    kOrphan,    // started; its sender's life is over, so nobody hears how it ends
    kFinished,  // not acknowledged yet
  };

  // Ends with its session.
  struct Account {
    wire::Session session;
    std::uint64_t limit = 0, passed = 0, burned = 0;
    std::uint64_t used = 0, seen_limit = 0;  // as last announced
    std::uint64_t ask = 0;                   // burn up to this; 0: nothing is asked
    std::uint64_t last_passed = 0;           // at the last period
    unsigned unanswered = 0;                 // periods without mail while something is asked
    unsigned stuck = 0;                      // periods with items under way and none passing
    bool met = false;                        // the sender has announced in this session
    bool silent = false;  // opened because it did not answer: no credit until it speaks
    bool probe = false;   // opened because its data lane stalled: no credit until a mark passes

    std::uint64_t reserve() const { return limit - burned - passed; }
    std::uint64_t under_way() const { return used > burned + passed ? used - burned - passed : 0; }
  };

  struct Sender {
    Account account;
    Incarnation life = 0;
    std::uint64_t number = 0;  // the highest announcement
    std::uint64_t want = 0;
    std::uint64_t weight = 1;
    std::uint64_t stamp = 0;   // when it was last given credit
    std::uint64_t target = 0;  // its fair share of places, of the last refill
    std::uint64_t held = 0, finished = 0;
    ItemList<Stage> items;
    bool due = false, full = false, echo = false;  // a state is due, and its flags
    bool forgotten = false;
    // What the totals contain of this sender.
    std::uint64_t counted_reserve = 0;
    bool counted_short = false;
  };
  using Senders = std::map<SenderKey, Sender>;

  // Finds or opens the sender's account. Null: not to be heard.
  Sender* hear(const SenderKey& from, Incarnation life);
  Sender* find(const SenderKey& key);
  void learn(Sender& sender, const wire::Announce& announce);
  static bool credible(const Account& account, const wire::Announce& announce, std::uint64_t n);
  void pass(Sender& sender, std::uint64_t n, bool arrived);
  void answer(Sender& sender);
  void open(Sender& sender);
  void begin_life(const SenderKey& key, Sender& sender, Incarnation life);
  void drop_waiting(const SenderKey& key, Sender& sender);
  void forget_if_empty(const SenderKey& key, const Sender& sender);

  bool trusted(const Sender& sender) const;
  bool is_short(const Sender& sender) const;
  std::uint64_t cap(const Sender& sender) const;
  static std::uint64_t places(const Sender& sender);
  bool anything_open(const Sender& sender) const;
  void recount(Sender& sender);
  void changed() { changed_ = period_needed_ = true; }

  void refill(bool period);
  void set_targets();
  std::uint64_t grant(std::uint64_t room);
  void spread(std::uint64_t room);
  std::uint64_t hand_out(std::uint64_t room);
  void ask_back(Sender& sender, bool unmet);
  bool reclaim(Sender& sender);
  wire::WindowState state_of(const Sender& sender) const;

  std::uint64_t high() const { return stopped_ ? 0 : marks_.high; }
  std::uint64_t low() const { return stopped_ ? 0 : marks_.low; }
  bool over_high() const { return occupancy_ + reserve_ > high(); }

  Incarnation self_;
  Marks marks_;
  bool stopped_ = false;
  Senders senders_;
  std::uint64_t sessions_ = 0;  // opened in this life of the node
  std::uint64_t clock_ = 0;     // of stamps
  // Totals over all senders.
  std::uint64_t occupancy_ = 0, reserve_ = 0, finished_ = 0, short_ = 0;
  bool changed_ = false;
  bool period_needed_ = false;
  std::vector<Dropped> dropped_;
  // Of the refill under way.
  std::vector<Sender*> claimants_;
  std::vector<Claim> claims_;
  std::vector<std::size_t> order_;
};

}  // namespace headrace
