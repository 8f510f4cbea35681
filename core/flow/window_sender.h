// The sending end of a job window: the credit that one consumer gave to one queue of this node.
//
// Owned by the owner's queue, one for each (receiver node, consumer). Called by the thread that
// owns the protocol state; nothing blocks, nothing reads a clock. A turn goes: feed it the mail
// that arrived, queue again what was handed back, set_want(), take_item() while there is work and
// credit(), and at last collect(): what is left of credit that was asked back is burned there, so
// that use comes before burning. Call on_period() every kWindowPeriod as long as period_needed().
//
// Keep it for as long as this node and that consumer's process may both live, also while they
// believe each other dead: one made anew would give numbers again and not be heard.
//
// To choose among consumers: the one with the largest part of its window free, ties in rotation.
//
// Invariants: limit, used and burned only grow within a session; burned <= used <= limit; a number
// is given to one item only, since the session is never forgotten but replaced by a higher one.
// Bounds: credit and flights a session <= limits::kHighWaterMark each, whatever the receiver says.
// Cost: O(1) an item; O(flights) a full state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/flow/item_list.h"
#include "core/wire/window.h"

namespace headrace {

class WindowSender final {
 public:
  struct Outgoing {
    std::optional<wire::Announce> announce;  // control lane
    std::optional<wire::Mark> mark;          // data lane, behind all items
  };

  // `self` is this node's incarnation. Announcements are numbered from `announced` on: above all that
  // another WindowSender of this incarnation may have made to the same window.
  explicit WindowSender(Incarnation self, std::uint64_t announced = 0)
      : self_(self), number_(announced) {}

  // Items that may be sent now; 0 while the receiver is believed dead.
  std::uint64_t credit() const { return away_ ? 0 : limit_ - used_; }
  // Uses one credit; credit() > 0. `token` comes back if the item is handed back.
  wire::ItemHead take_item(std::uint64_t token);
  // Items that could be sent now if there were credit. take_item() lowers it by one.
  void set_want(std::uint64_t items);

  // Mail. Appends the tokens of items that ended unrun at the receiver: uncharged.
  void on_state(const wire::WindowState& state, std::vector<std::uint64_t>& handed_back);
  // Items that the receiver lists though they were taken back from it, by on_dead(): to be told, until
  // it lists none. Among them may be some that have ended and are not acknowledged yet.
  std::vector<wire::HeldRun> over(const wire::WindowState& state);
  // Any other mail from the receiver, a completion for one.
  void on_heard();
  // Ends the flight of an item: its completion came, or its lease is over. Nothing if it is none
  // any more: then the outcome is refused.
  std::optional<std::uint64_t> end_flight(const wire::ItemId& item);

  // What membership says of the receiver. Dead: appends the tokens of all flights and falls silent
  // until it is heard or believed alive again; session and numbers stay.
  void on_dead(std::vector<std::uint64_t>& returned);
  void on_alive();

  void on_period();
  bool period_needed() const;

  // The messages to send now, at most one of each.
  Outgoing collect();

  const wire::Session& session() const { return session_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t burned() const { return burned_; }
  std::uint64_t sent() const { return used_ - burned_; }
  std::uint64_t passed() const { return passed_; }  // as heard
  std::uint64_t want() const { return want_; }
  std::size_t flights() const { return flights_.size(); }
  bool flies(const wire::ItemId& item) const { return flights_.find(item) != nullptr; }
  bool away() const { return away_; }

 private:
  wire::Announce announcement(bool query);
  void hand_back(const wire::WindowState& state, std::vector<std::uint64_t>& tokens);
  bool starved() const { return want_ > 0 && credit() == 0; }

  Incarnation self_;
  wire::Session session_;
  std::uint64_t limit_ = 0, used_ = 0, burned_ = 0;
  std::uint64_t passed_ = 0, heard_burned_ = 0;  // as the receiver stated
  std::uint64_t number_ = 0;                     // of the last announcement, over all sessions
  std::uint64_t want_ = 0, told_want_ = 0;
  std::uint64_t ask_ = 0;
  unsigned silent_ = 0;  // periods without news
  unsigned behind_ = 0;  // periods with items not known to have passed
  bool away_ = false;
  bool took_back_ = false;  // and the receiver may not know
  bool announce_due_ = false, query_due_ = false, mark_due_ = false;
  ItemList<std::uint64_t> flights_;  // tokens
};

}  // namespace headrace
