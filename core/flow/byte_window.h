// The byte window of an event lane: what one node's publishers may have under way to another node,
// in the same cumulative arithmetic as job windows, with bytes for units. One sender and one
// receiver a link and direction.
//
// Sending end: owned by the link's send queue. Ask admit() for each message, and call use() at once
// for each that is to leave; messages of one session that leave in one frame share a head, with the
// offset of the first and the sum of their sizes. Feed it with states; call on_period() every
// kWindowPeriod as long as period_needed(), and take the mail with collect(). Receiving end: owned
// by the node's event intake. Feed it with the frames; call release() when the bytes of a frame are
// in all registration queues; send what collect() gives, and call it again at wake_at().
//
// Both: called by the thread that owns the protocol state; nothing blocks; the time is handed in.
//
// Invariants: bytes passed and not released <= window, but for one message that is larger than the
// window and then alone. Lost bytes are seen as gaps, counted, and released. Best effort: nothing
// is sent again.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/base/time.h"
#include "core/wire/window.h"

namespace headrace {

inline constexpr Millis kLaneStall{50};  // a window that is full and has not moved for so long
// A window that was not answered yet. Its node is a member, but may be only just connecting, or not
// have heard of this one.
inline constexpr Millis kLaneOpening{5'000};
inline constexpr Millis kLaneProgress{20};  // how often a receiver that holds back says it moves

class ByteWindowSender final {
 public:
  enum class Admission {
    kSend,
    kWait,     // no room; ask again after the next state, or at stall_at()
    kStalled,  // no room, and no movement until stall_at(): drop it, nobody shall wait for it
  };
  struct Outgoing {
    std::optional<wire::LaneQuery> query;  // control lane
    std::optional<wire::LaneMark> mark;    // data lane, behind all frames
  };

  explicit ByteWindowSender(Incarnation self) : self_(self) {}

  // May a message of so many bytes leave now?
  Admission admit(std::uint64_t bytes, MonoTime now);
  // Bytes that fit; a message always fits if nothing is outstanding in an open session.
  std::uint64_t room() const { return limit_ > used_ ? limit_ - used_ : 0; }
  bool fits(std::uint64_t bytes) const;
  // For a message that was admitted.
  wire::LaneHead use(std::uint64_t bytes);

  // True if something was released, so that what waits may be admitted.
  bool on_state(const wire::LaneState& state, MonoTime now);
  // The other node was met, or met again: asks for its state if something waits.
  void on_alive();

  bool stalled(MonoTime now) const { return now >= stall_at(); }
  // When a publisher that waits must give up; kNever while nothing waits.
  MonoTime stall_at() const;

  void on_period();
  bool period_needed() const { return blocked_ || outstanding() > 0; }
  Outgoing collect();

  const wire::Session& session() const { return session_; }
  std::uint64_t outstanding() const { return used_ - released_; }  // bytes, as far as is known

 private:
  void adopt(const wire::Session& session);

  Incarnation self_;
  wire::Session session_;
  std::uint64_t limit_ = 0, used_ = 0;
  std::uint64_t passed_ = 0, released_ = 0, progress_ = 0;  // as the receiver stated
  bool blocked_ = false;                                    // something waits for room
  bool asked_ = false;      // ... and the receiver was told since the last frame
  MonoTime still_since_{};  // while blocked: since when nothing has moved
  unsigned silent_ = 0, behind_ = 0;
  bool query_due_ = false, mark_due_ = false;
};

class ByteWindowReceiver final {
 public:
  // `sessions` were opened to that sender before, by a receiver that this one replaces.
  explicit ByteWindowReceiver(Incarnation self, std::uint64_t window = limits::kLaneWindowBytes,
                              std::uint64_t sessions = 0)
      : self_(self), window_(window), session_{0, sessions} {}

  const wire::Session& session() const { return session_; }

  // Mail. `life` is the sender's incarnation. True: take the frame's events in. False: they are
  // late, of another session or beyond the window, and are not counted on.
  bool on_frame(Incarnation life, const wire::LaneHead& head);
  void on_mark(Incarnation life, const wire::LaneMark& mark);
  void on_query(Incarnation life, const wire::LaneQuery& query);

  // In the order of the frames: so many of the bytes taken in are in all registration queues.
  void release(std::uint64_t bytes);
  // A callback ended whose queue holds this window back.
  void on_progress();

  // The state to send now, if one is due.
  std::optional<wire::LaneState> collect(MonoTime now);
  // When to call collect() next without further input; kNever at rest.
  MonoTime wake_at() const;

  std::uint64_t held() const { return old_held_ + passed_ - released_; }  // bytes
  std::uint64_t lost() const { return lost_; }                            // bytes, of all sessions

 private:
  bool hear(Incarnation life);
  void pass(std::uint64_t offset);
  std::uint64_t limit() const;
  bool holding_back() const { return waiting_ || held() > window_ / 2; }

  Incarnation self_;
  std::uint64_t window_;
  Incarnation life_ = 0;
  wire::Session session_;
  std::uint64_t passed_ = 0, released_ = 0;
  std::uint64_t old_held_ = 0;  // bytes of earlier sessions, not released
  std::uint64_t progress_ = 0, lost_ = 0;
  std::uint64_t told_limit_ = 0, told_progress_ = 0;
  bool due_ = false;
  bool waiting_ = false;  // the sender says that something waits for room
  MonoTime told_at_{};
};

}  // namespace headrace
