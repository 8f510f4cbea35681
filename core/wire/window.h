// What the two ends of a window tell each other: job windows (owner and consumer) and the byte
// windows of event lanes. core/flow gives these their meaning.
//
// Each struct is one msgpack value, an array of its fields, so that a message is put together from
// several; fields of newer versions are passed over. decode() latches a failure in the Reader and
// bounds every number and list. A struct that decoded well has burned <= used <= limit.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/wire/codec.h"

namespace headrace::wire {

// One life of a window between two incarnations. Opened by the receiver only; a higher one replaces
// a lower one. The default is "none yet".
struct Session {
  Incarnation receiver = 0;
  std::uint64_t counter = 0;

  bool exists() const { return receiver != 0; }
  auto operator<=>(const Session&) const = default;
};

// One item of a session; numbers start at 1. Ordered as items are sent.
struct ItemId {
  Session session;
  std::uint64_t n = 0;

  auto operator<=>(const ItemId&) const = default;
};

// Which window of the link is meant: a consumer is a handler at the receiving node, the queue is
// the owner's.
struct WindowId {
  std::uint32_t consumer = 0;
  std::string queue;

  auto operator<=>(const WindowId&) const = default;
};

// Owner to consumer: the sender's side of the account. The highest number of an incarnation wins.
struct Announce {
  std::uint64_t number = 0;
  Session session;
  std::uint64_t limit = 0;   // the receiver's, as last heard
  std::uint64_t used = 0;    // items sent and credit burned
  std::uint64_t burned = 0;  // credit given back
  std::uint64_t want = 0;    // items that could be sent now
  bool query = false;        // answer with a full state

  std::uint64_t sent() const { return used - burned; }
  bool operator==(const Announce&) const = default;
};

// Rides on each item. Items sent so far are the item's number, so it needs no field of its own.
struct ItemHead {
  Announce announce;

  ItemId id() const { return {announce.session, announce.sent()}; }
  bool operator==(const ItemHead&) const = default;
};

// Follows the items on the data lane: each of them has arrived by now, or is lost.
struct Mark {
  Announce announce;

  std::uint64_t last() const { return announce.sent(); }
  bool operator==(const Mark&) const = default;
};

// Items first, first + 1, ... of the session that counts `counter` of the receiver's incarnation.
struct HeldRun {
  std::uint64_t counter = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const HeldRun&) const = default;
};

// Whether `id`, of a session of the receiver's incarnation that the runs are of, is among them.
// They must be in ascending order.
bool lists(const std::vector<HeldRun>& runs, const ItemId& id);

// Owner to consumer, in answer to a list: these of its items were taken back, nobody waits for
// their ends.
struct WindowOver {
  Incarnation receiver = 0;  // whose sessions the counters are of
  std::vector<HeldRun> items;

  bool operator==(const WindowOver&) const = default;
};

// Consumer to owner: the receiver's side of the account.
struct WindowState {
  Session session;
  Incarnation sender = 0;  // for this life of the owner; another drops it
  std::uint64_t limit = 0;
  std::uint64_t passed = 0;  // the highest item number passed
  std::uint64_t burned = 0;  // as last announced
  std::uint64_t ask = 0;     // please burn up to this; 0: nothing is asked
  bool echo = false;         // please announce
  bool prove = false;        // please send a mark over the data lane
  bool full = false;         // `held` is valid
  // Of this owner: unfinished, or finished and not acknowledged. In ascending order.
  std::vector<HeldRun> held;

  bool operator==(const WindowState&) const = default;
};

// Opens a frame of events: what the frame takes from the window starts at `offset`.
struct LaneHead {
  Session session;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // bytes

  bool operator==(const LaneHead&) const = default;
};

// Follows the frames on the data lane: the bytes before `offset` have arrived by now, or are lost.
struct LaneMark {
  Session session;
  std::uint64_t offset = 0;

  bool operator==(const LaneMark&) const = default;
};

// Publisher to subscriber node: what is your state?
struct LaneQuery {
  Session session;
  bool blocked = false;  // something waits for room

  bool operator==(const LaneQuery&) const = default;
};

// Subscriber node to publisher.
struct LaneState {
  Session session;
  Incarnation sender = 0;
  std::uint64_t limit = 0;     // bytes
  std::uint64_t passed = 0;    // bytes that arrived or were lost
  std::uint64_t released = 0;  // of these, bytes that no longer count against the window
  std::uint64_t progress = 0;  // grows with each callback that ends while the window is held back

  bool operator==(const LaneState&) const = default;
};

void encode(Writer& out, const WindowId& id);
void decode(Reader& in, WindowId& id);
void encode(Writer& out, const Announce& announce);
void decode(Reader& in, Announce& announce);
void encode(Writer& out, const ItemHead& head);
void decode(Reader& in, ItemHead& head);
void encode(Writer& out, const Mark& mark);
void decode(Reader& in, Mark& mark);
void encode(Writer& out, const WindowOver& over);
void decode(Reader& in, WindowOver& over);
void encode(Writer& out, const WindowState& state);
void decode(Reader& in, WindowState& state);
void encode(Writer& out, const LaneHead& head);
void decode(Reader& in, LaneHead& head);
void encode(Writer& out, const LaneMark& mark);
void decode(Reader& in, LaneMark& mark);
void encode(Writer& out, const LaneQuery& query);
void decode(Reader& in, LaneQuery& query);
void encode(Writer& out, const LaneState& state);
void decode(Reader& in, LaneState& state);

}  // namespace headrace::wire
