// Adverts: the versioned public statement of each node, opaque bytes here. Gossip says which
// version exists; who is behind pulls it chunk by chunk, from the node itself or, when that does
// not answer, from any member. The answering side keeps nothing, so a slow reader costs nobody
// anything.
#pragma once

#include <map>
#include <optional>

#include "core/member/shared.h"

namespace headrace {

class Adverts final {
 public:
  explicit Adverts(Shared& shared) : shared_(shared) {}

  // This node's own.
  void set_own(std::uint64_t version, Bytes bytes);
  // Looks whether that member's is behind, and pulls it then. For every change of a member.
  void member_changed(const MemberRecord& member);
  // A new life: what the former one said is void.
  void forget(NodeId id);

  void on_get(NodeId from, const wire::AdvertGet& get);
  // The version that is complete with this chunk, if one is.
  std::optional<std::uint64_t> on_chunk(const MemberRecord& from, const wire::AdvertChunk& chunk);

  BytesView bytes(NodeId id) const;
  std::uint64_t version(NodeId id) const;
  // No live member is ahead of what is here.
  bool complete() const { return pulls_.empty(); }

  void tick();
  MonoTime next() const;
  void shift(Nanos by);
  void stop() { pulls_.clear(); }

 private:
  struct Held {
    Incarnation incarnation = 0;
    std::uint64_t version = 0;
    Bytes bytes;
  };
  struct Pull {
    MonoTime deadline = kNever;  // kNever: waits for its turn
    unsigned tries = 0;
    NodeId asked;
    std::uint64_t version = 0;  // of the chunks below
    std::uint32_t chunks = 0;
    std::uint32_t next_chunk = 0;
    Bytes bytes;
  };

  void begin_waiting();
  void ask_elsewhere(const MemberRecord& member, Pull& pull);
  void request(const MemberRecord& member, const MemberRecord& from, Pull& pull);
  bool running(const Pull& pull) const { return pull.deadline != kNever; }

  Shared& shared_;
  std::map<NodeId, Held> held_;
  std::map<NodeId, Pull> pulls_;  // of live members that are ahead of what is held
};

}  // namespace headrace
