// EventLane: what one node's publishers have under way to another node: the byte window, the frames
// that are filled and wait for the socket, and the events that wait for room in the window.
//
// Owned by EventSender, which bounds all lanes together. Plain state. What waits keeps the order of
// the publisher: while something does, nothing newer gets in.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/flow/byte_window.h"
#include "core/wire/event.h"
#include "core/wire/frame.h"

namespace headrace {

// An event with memory of its own, for those destinations where it has to wait.
struct EventParcel {
  explicit EventParcel(const wire::Event& source);
  EventParcel(const EventParcel&) = delete;
  EventParcel& operator=(const EventParcel&) = delete;

  Bytes bytes;
  wire::Event event;          // looks into `bytes`
  std::uint32_t waiting = 0;  // destinations that may still take it
  std::uint32_t dropped = 0;  // ... and that it will not go to
};

// A frame for the data lane, head included.
struct EventFrameOut {
  NodeId to;
  Bytes bytes;
  std::uint32_t events = 0;
};

class EventLane final {
 public:
  // The most that `event` takes from a window.
  static std::size_t cost(const wire::Event& event);

  // `spare`: memory for frames, of all lanes.
  EventLane(const wire::FrameHead& head, std::vector<Bytes>& spare);

  const NodeId& node() const { return head_.receiver; }
  Incarnation life() const { return head_.receiver_incarnation; }

  // Room for something new of that cost.
  bool fits(std::size_t cost) const { return waiting.empty() && window.fits(cost); }
  // Nobody shall wait for it: neither window nor socket has moved for kLaneStall. Found by look(),
  // which must have seen no movement several times: a node that was itself held up does not blame
  // others.
  bool stalled() const { return stalled_; }
  void look(MonoTime now);
  void moved() {
    stalled_ = false;
    looks_ = 0;
  }
  // `event` must fit. A payload above limits::kChunkBytes goes ahead in pieces. Returns the encoded
  // message, for add_encoded() of other lanes, until the next call; nothing if there were pieces.
  BytesView add(const wire::Event& event);
  void add_encoded(BytesView message);
  // Behind all frames.
  void add_mark(const wire::LaneMark& mark);

  bool empty() const { return frames_.empty(); }
  std::size_t bytes() const { return bytes_; }  // that wait for the socket
  EventFrameOut take();                         // not when empty()
  void put_back(EventFrameOut frame, MonoTime now);
  void on_room() {
    refused_since_.reset();
    moved();
  }
  bool refused() const { return refused_since_.has_value(); }
  // Drops all frames; returns the number of events in them.
  std::uint64_t clear();

  // Kept by EventSender.
  ByteWindowSender window;
  std::deque<std::shared_ptr<EventParcel>> waiting;
  bool open = true;    // its node is a member
  bool ready = false;  // in the list of those that have frames
  bool due = false;    // in the list of those that may have mail

 private:
  struct Frame {
    Bytes bytes;
    std::size_t begin = 0;  // of the events; 0: closed
    wire::LaneHead lane;
    std::uint32_t events = 0;
  };

  BytesView add_whole(const wire::Event& event);
  Frame& frame(std::size_t size);
  Frame& new_frame(std::size_t reserve);
  void added(Frame& frame, std::size_t before);
  void close(Frame& frame);

  wire::FrameHead head_;
  std::vector<Bytes>& spare_;
  std::deque<Frame> frames_;  // all but the last are closed
  std::size_t bytes_ = 0;
  std::size_t expect_ = 0;  // the last frame's size: a busy lane allocates once a frame
  std::optional<MonoTime> refused_since_;
  bool stalled_ = false;
  unsigned looks_ = 0;          // without movement
  MonoTime stall_at_ = kNever;  // at the last of them
};

}  // namespace headrace
