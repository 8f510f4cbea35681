// The kind of each message: the first element of its array. Append only: the numbers are the protocol.
// A node counts kinds that it does not know and passes over them.
#pragma once

#include <cstdint>

namespace headrace::wire {

enum class Kind : std::uint8_t {
  // Membership, control lane.
  kHello = 1,
  kHelloAck = 2,
  kReject = 3,
  kPing = 4,
  kAck = 5,
  kPingRequest = 6,
  kNack = 7,
  kGossip = 8,
  kSyncDigest = 9,
  kSyncNeed = 10,
  kSyncState = 11,
  kLeave = 12,
  kAdvertGet = 13,
  kAdvert = 14,

  // Windows of job queues.
  kAnnounce = 20,     // owner to consumer, control
  kWindowState = 21,  // consumer to owner, control
  kMark = 22,         // owner to consumer, data
  kWindowOver = 23,   // owner to consumer, control: listed items that were taken back

  // A large payload, in pieces that precede the message which names it. Same lane as that message.
  kBlob = 30,

  // Jobs.
  kJobItem = 40,       // owner to consumer, data
  kJobDone = 41,       // consumer to owner, control; data if the result is large
  kJobDoneAck = 42,    // owner to consumer, control
  kJobHandBack = 43,   // consumer to owner, control: will not run these
  kJobClaims = 44,     // consumer to owner, control: what it holds of the owner's earlier lives
  kJobClaimsAck = 45,  // owner to consumer, control

  // Events.
  kEvent = 70,      // inside kEventFrame
  kEventGone = 71,  // control: no such registration here any more
  kLaneState = 72,  // control: receiver's window of an event lane
  kLaneMark = 73,   // data
  kLaneQuery = 74,  // control
  kEventFrame = 75, // data: a frame of kEvent messages, and its place in the lane's window

  // Calls: from a client, or from a node without a store to its owner.
  kReply = 90,
  kCallAddJobs = 91,
  kCallGetJob = 92,
  kCallFindJobs = 93,
  kCallWaitJob = 94,
  kCallMembers = 95,
  kCallPublish = 96,
  kCallSubscribe = 97,
  kCallUnsubscribe = 98,
  kClientEvent = 99,
  kClientAlive = 100,
  kCallHello = 101,
};

constexpr std::uint64_t number(Kind kind) { return static_cast<std::uint64_t>(kind); }

}  // namespace headrace::wire
