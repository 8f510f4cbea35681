// Links: what a node says to the others, gathered into frames, and the connections that carry them.
//
// Owned by the loop and called by its thread only; nothing blocks. Messages to one node and lane
// are put together into frames, which flush() hands to the transport at the end of the turn: so a
// busy turn sends large frames and an idle one sends at once, without a timer. What finds its lane
// full waits until on_room().
//
// Limits: limits::kLinkBytes wait for one node, limits::kLinksBytes for all; beyond, the oldest
// frame of the largest holder is dropped and counted. That loses messages, which is allowed to
// happen on any link.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/peer/actions.h"
#include "core/wire/frame.h"
#include "transport/transport.h"

namespace headrace::runtime {

struct LinkStats {
  std::uint64_t dropped_frames = 0;    // for want of room, or a way
  std::uint64_t dropped_messages = 0;  // no link to that node, or too large for a frame
  std::size_t waiting_bytes = 0;
};

class Links final {
 public:
  struct Self {
    std::uint64_t cluster = 0;
    NodeId node;
    Incarnation incarnation = 0;
  };
  Links(transport::Transport& transport, Self self) : transport_(transport), self_(self) {}
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // kInvalid if one of the endpoints can't be dialled; the node is then not reached.
  Result<void> reach(const Reach& reach);
  void unreach(const NodeId& node);

  // Where the node listens; null if it is not reached.
  const std::string* endpoint_of(const NodeId& node) const;

  void append(const NodeId& to, wire::Lane lane, BytesView message);
  void append_endpoint(const std::string& endpoint, BytesView message, MonoTime now);
  void append_client(BytesView routing_id, BytesView message);
  // A whole frame for the data lane. False, the frame untouched, if the lane is full; a node that
  // is not reached swallows it.
  bool emit(const NodeId& to, Bytes& frame);

  // Hands over what the turn gathered. Clients that are gone are named in `gone`.
  void flush(std::vector<Bytes>& gone);
  // Sends what waited for that lane. The node, if its data lane is free for others' frames again.
  std::optional<NodeId> on_room(transport::LinkId link, wire::Lane lane);

  // Closes what has not been used for a while.
  void sweep(MonoTime now);
  MonoTime next_sweep() const { return links_.empty() && dials_.empty() ? kNever : sweep_at_; }
  // Nothing waits for a lane.
  bool idle() const { return waiting_bytes_ == 0; }
  LinkStats stats() const;

 private:
  struct Lane {
    wire::FrameBuilder frames;
    bool full = false;
    bool dirty = false;  // named in dirty_
  };
  struct Link {
    transport::LinkId id{};
    Reach reach;
    std::array<Lane, 2> lanes;
    std::size_t bytes() const { return lanes[0].frames.bytes() + lanes[1].frames.bytes(); }
  };
  // To an address, when nobody knows who lives there.
  struct Dial {
    transport::LinkId id{};
    wire::FrameBuilder frames;
    MonoTime used{};
  };

  wire::FrameHead head(const NodeId& to, Incarnation incarnation) const;
  bool fits(BytesView message);
  void append_dial(const std::string& key, const Result<transport::Endpoint>& where,
                   BytesView message, MonoTime now);
  void flush(Link& link, wire::Lane lane);
  void flush_dial(Dial& dial);
  void drop_all(Link& link);
  void drop_oldest(Link& link);
  void make_room(Link& last);

  transport::Transport& transport_;
  const Self self_;
  std::unordered_map<NodeId, Link> links_;
  std::unordered_map<transport::LinkId, NodeId> nodes_;
  std::map<std::string, Dial> dials_;                         // by endpoint; by IPv6 for names too
  std::map<Bytes, wire::FrameBuilder, std::less<>> clients_;  // of this turn
  std::vector<std::pair<NodeId, wire::Lane>> dirty_;
  std::size_t waiting_bytes_ = 0;  // of links_
  MonoTime sweep_at_{};
  LinkStats stats_;
};

}  // namespace headrace::runtime
