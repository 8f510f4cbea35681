// A frame: what one lane carries at a time, [head][message][message]... back to back in one buffer.
//
// The head is a msgpack array [version, cluster, sender, its incarnation, receiver, its
// incarnation]; each message is a msgpack array [kind, field, ...]. There is no count and no
// length: a message ends where its array ends, so a builder writes each message in place and closes
// the frame whenever it likes.
//
// FrameBuilder is owned by whoever owns the link, one for each lane. FrameReader looks at bytes it
// does not own. Both are plain state, without a clock or a socket: a node and the simulator use the
// same ones. Not thread-safe.
//
// Limits: a frame is closed at limits::kBatchBytes, so it holds at most that plus one message; a
// message has at most kMessageBytes, hence no frame exceeds limits::kFrameBytes. Bad input latches
// the reader's failure; messages handed out before are whole and good.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/wire/codec.h"

namespace headrace::wire {

// What a connection is for. Acks, credit, gossip and renewals are control; they never queue behind
// data.
enum class Lane : std::uint8_t { kControl = 0, kData = 1 };

inline constexpr std::uint64_t kProtocolVersion = 1;

// The cluster's name as 64 bits: FNV-1a over its bytes. Part of the protocol, never to be changed.
// It keeps clusters apart that share a network by accident; it keeps no secret.
std::uint64_t cluster_hash(std::string_view name);

// Every frame says whose it is and whom it is for, because a queue of ZeroMQ belongs to an address,
// not to the process behind it: mail for another node, or for this node's earlier life, is the
// receiver's to drop.
struct FrameHead {
  std::uint64_t version = kProtocolVersion;
  std::uint64_t cluster = 0;  // cluster_hash of the name
  NodeId sender{};            // zero for a client, which is known by its routing id
  Incarnation sender_incarnation = 0;
  NodeId receiver{};                     // zero: not known yet
  Incarnation receiver_incarnation = 0;  // 0: not known yet

  bool operator==(const FrameHead&) const = default;
};

// The most that an encoded head takes: array tag, four numbers of 9 bytes, two ids of 18.
inline constexpr std::size_t kHeadBytes = 1 + 4 * 9 + 2 * 18;
// The most that one message may take, so that it fits behind a batch that is almost full.
inline constexpr std::size_t kMessageBytes = limits::kFrameBytes - limits::kBatchBytes;

void encode(Writer& out, const FrameHead& head);
// The head at the reader's place; fields of newer versions are passed over. Failure latches in
// `in`.
FrameHead decode_head(Reader& in);

class FrameBuilder final {
 public:
  explicit FrameBuilder(const FrameHead& head) : head_(head) {}

  // For the frames opened from now on; an open one is closed as it is.
  void set_head(const FrameHead& head);
  const FrameHead& head() const { return head_; }

  // Appends what `write(Writer&)` writes, which must be one message of at most kMessageBytes.
  template <typename Write>
  void add(Write&& write) {
    Bytes& frame = open();
    const auto before = frame.size();
    Writer out(frame);
    std::forward<Write>(write)(out);
    added(frame.size() - before);
  }
  // Appends one encoded message.
  void append(BytesView message) {
    add([message](Writer& out) { out.raw(message); });
  }

  bool empty() const { return frames_.empty(); }
  // Bytes in all frames that wait here, heads included: what the owner bounds.
  std::size_t bytes() const { return bytes_; }
  // Frames that wait, the open one included.
  std::size_t frames() const { return frames_.size(); }

  // Takes the oldest frame out; closes it if it is the open one. Not when empty().
  Bytes take();
  // Puts back the frame that take() gave, because the lane is full: it will be the next again.
  void put_back(Bytes frame);
  void clear();

 private:
  Bytes& open();
  void added(std::size_t size);

  FrameHead head_;
  std::deque<Bytes> frames_;  // the last one is open if open_
  bool open_ = false;
  std::size_t bytes_ = 0;
  std::size_t expect_ = 0;  // the last frame's size: a busy lane allocates once a frame
};

class FrameReader final {
 public:
  // Views into `frame` are handed out: it must stay.
  explicit FrameReader(BytesView frame);

  // False once head or a message is cut short, malformed, or a limit is passed.
  bool ok() const { return in_.ok(); }
  const FrameHead& head() const { return head_; }
  // The next message, [kind, ...] still encoded; nothing at the end, or after a failure: ask ok().
  std::optional<BytesView> next();

 private:
  Reader in_;
  FrameHead head_;
  std::size_t messages_ = 0;
};

}  // namespace headrace::wire
