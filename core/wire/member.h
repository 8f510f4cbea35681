// Messages of the membership protocol and their codec.
//
// encode_member() gives a whole message, [kind, fields...]; decode_member() takes one and refuses
// whatever does not fit its limits. Neither throws. A decoder allocates no more than a few times
// the bytes it was given. Who sent a message stands in the head of the frame, which is not read
// here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {

// What a node says of itself. Fixed for one incarnation, hence shared between all who speak of it.
struct Description {
  std::string name;              // for people; never an identity
  std::string control_endpoint;  // its address
  std::string data_endpoint;
  std::map<std::string, std::string> tags;
  bool has_store = false;  // it owns rows, is remembered after its death and redialled
  bool reopened = false;   // started by a reopened store: what it held did not crash
  std::uint16_t protocol_min = 1;
  std::uint16_t protocol_max = 1;

  bool operator==(const Description&) const = default;
};

// Raised by its owner alone. Incarnation first: it grows at each start; refutation counts from 0
// within it.
struct Numbers {
  Incarnation incarnation = 0;
  std::uint64_t refutation = 0;

  auto operator<=>(const Numbers&) const = default;
};

enum class UpdateKind : std::uint8_t {
  kAlive = 0,    // with description and advert version
  kSuspect = 1,  // by: who accuses
  kDead = 2,     // by: whose suspicion ran out
  kLeft = 3,     // the node's own word
  kAdvert = 4,   // its advert has this version now; refutation is not used
};

// One sentence of gossip about one node.
struct Update {
  UpdateKind kind = UpdateKind::kAlive;
  NodeId id;
  Numbers numbers;
  NodeId by;                                 // kSuspect, kDead
  std::uint64_t advert_version = 0;          // kAlive, kAdvert
  std::shared_ptr<const Description> about;  // kAlive, never null there

  bool operator==(const Update& other) const;
};

// First message on a link, to an address whose occupant need not be known. `belief` is what the
// sender thinks of that occupant if it expects one, so that a node believed dead can refute in its
// answer.
struct Hello {
  std::uint64_t round = 0;  // comes back in the answer
  Update self;              // kAlive
  std::optional<Update> belief;
  bool operator==(const Hello&) const = default;
};

struct HelloAck {
  std::uint64_t round = 0;
  Update self;
  std::optional<Update>
      belief;  // set if the answering node does not hold the caller for alive as it says
  bool operator==(const HelloAck&) const = default;
};

enum class RejectReason : std::uint8_t { kVersion = 1, kFull = 2, kForbidden = 3 };

struct Reject {
  std::uint64_t round = 0;
  RejectReason reason = RejectReason::kVersion;
  std::string text;
  bool operator==(const Reject&) const = default;
};

struct Ping {
  std::uint64_t seq = 0;
  std::string endpoint;  // where the sender is reached: who is asked need not know it
  std::vector<Update> updates;
  bool operator==(const Ping&) const = default;
};

struct Ack {
  std::uint64_t seq = 0;
  std::vector<Update> updates;
  bool operator==(const Ack&) const = default;
};

// "Ping `target` for me": answered by Ack with this seq, or by Nack when it stays silent.
struct PingRequest {
  std::uint64_t seq = 0;
  NodeId target;
  std::string target_endpoint;
  std::uint32_t timeout_ms = 0;
  bool operator==(const PingRequest&) const = default;
};

struct Nack {
  std::uint64_t seq = 0;
  bool operator==(const Nack&) const = default;
};

struct Gossip {
  std::vector<Update> updates;
  bool operator==(const Gossip&) const = default;
};

// "My view has this hash": answered by an empty SyncState when views are equal, else by SyncNeed.
struct SyncDigest {
  std::uint64_t round = 0;
  std::uint64_t hash = 0;
  bool operator==(const SyncDigest&) const = default;
};

struct SyncEntry {
  NodeId id;
  UpdateKind state = UpdateKind::kAlive;  // not kAdvert
  Numbers numbers;
  std::uint64_t advert_version = 0;
  bool operator==(const SyncEntry&) const = default;
};

// Everything the answering node knows, without descriptions.
struct SyncNeed {
  std::uint64_t round = 0;
  std::uint32_t chunk = 0;  // 0 .. chunks-1, in order
  std::uint32_t chunks = 1;
  std::vector<SyncEntry> entries;
  bool operator==(const SyncNeed&) const = default;
};

// The initiator tells what the other lacks and names what it lacks itself; the answer brings that.
struct SyncState {
  std::uint64_t round = 0;
  bool answer = false;  // from the node that was asked
  bool last = false;
  std::vector<Update> updates;
  std::vector<NodeId> wanted;
  bool operator==(const SyncState&) const = default;
};

struct Leave {
  Numbers numbers;
  bool operator==(const Leave&) const = default;
};

// "Send chunk `chunk` of node's advert if you hold a version above `have` of this incarnation."
struct AdvertGet {
  NodeId node;
  Incarnation incarnation = 0;
  std::uint64_t have = 0;
  std::uint32_t chunk = 0;
  std::string endpoint;  // where to answer: a newcomer asks nodes that have not heard of it
  bool operator==(const AdvertGet&) const = default;
};

// chunks == 0: nothing newer here.
struct AdvertChunk {
  NodeId node;
  Incarnation incarnation = 0;
  std::uint64_t version = 0;
  std::uint32_t chunk = 0;
  std::uint32_t chunks = 0;
  Bytes bytes;
  bool operator==(const AdvertChunk&) const = default;
};

using MemberMessage = std::variant<Hello, HelloAck, Reject, Ping, Ack, PingRequest, Nack, Gossip,
                                   SyncDigest, SyncNeed, SyncState, Leave, AdvertGet, AdvertChunk>;

Bytes encode_member(const MemberMessage& message);
// kProtocol when the bytes are no message of this group, are cut short, or go beyond a limit.
Result<MemberMessage> decode_member(BytesView message);

// Bytes that `update` takes within a message.
std::size_t encoded_size(const Update& update);

}  // namespace headrace::wire
