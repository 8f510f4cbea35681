// What a Peer asks of the world around it: of a node with its sockets, disk and threads, or of the simulator.
//
// Actions come out of Peer::end_turn() in the order in which they are to be done, and only once the commit that they
// depend on has reached its level: whoever carries them out need not know the rule.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/job/host.h"
#include "core/job/job.h"
#include "core/job/job_intake.h"
#include "core/store/batch.h"
#include "core/wire/frame.h"

namespace headrace {

// Counts the batches of one Peer from 1.
using CommitNumber = std::uint64_t;

// Write `batch` after those with lower numbers; several may be joined. Report with Peer::on_commit.
struct Commit {
  CommitNumber number = 0;
  Level level = Level::kDisk;  // kDisk: synced; kOs: written, synced with the next kDisk, at the latest after a second
  WriteBatch batch;
};

// Read once every commit up to `after` has been written (and synced, if of level kDisk). Report the continuation
// with Peer::on_read.
struct Read {
  CommitNumber after = 0;
  job::ReadTask task;
};

// To a node that Reach has named. Messages of one lane to one node keep their order; they may share a frame.
struct Send {
  NodeId to;
  wire::Lane lane = wire::Lane::kControl;
  Bytes message;
};
// To whoever lives at a control endpoint.
struct SendEndpoint {
  std::string endpoint;
  Bytes message;
};
// To a client, by the routing id that its frames came with. On the control lane.
struct SendClient {
  Bytes routing_id;
  Bytes message;
};

// A node can be reached there from now on; frames to it name `incarnation`. Replaces what was said before: another
// incarnation or endpoint means another process, to which nothing that waits for the old one may go.
struct Reach {
  NodeId node;
  Incarnation incarnation = 0;
  std::string control;
  std::string data;
};
struct Unreach {
  NodeId node;
};

// Run a handler; report with Peer::on_job_ended. The job stays until then.
struct StartJob {
  job::ConsumerNumber consumer = 0;
  job::RunId run = 0;
  std::shared_ptr<const job::HeldJob> job;
};
struct StopJob {  // tell the handler that its result will not count
  job::RunId run = 0;
};

// The answer to a call of this node's own program.
using CallNumber = std::uint64_t;
struct Added {
  std::vector<JobId> ids;
  Level level = Level::kDisk;
};
using Answer = std::variant<Added, JobInfo, std::vector<JobInfo>>;
struct AnswerCall {
  CallNumber call = 0;
  Result<Answer> answer;
};

// A client wants events: Peer::client_event() passes them on. Register and unregister them like a program's own.
struct ClientSubscribe {
  std::uint64_t subscription = 0;  // Peer's number
  std::string topic;
  bool sink = false;
};
struct ClientUnsubscribe {
  std::uint64_t subscription = 0;
};
// A client publishes: report with Peer::client_published.
struct ClientPublish {
  std::uint64_t publish = 0;       // Peer's number
  std::string topic;
  Bytes params;                    // encoded
  Bytes payload;
  Millis patience{0};
};

struct MembersChanged {};          // Peer::members() has changed
struct ReadyNow {};                // Peer::ready() has become true
struct IncarnationNeeded {         // a peer knows a higher one of this node: open anew above it
  Incarnation above = 0;
};
struct Note {
  std::string text;
};

using Action = std::variant<Send, SendEndpoint, SendClient, Reach, Unreach, StartJob, StopJob, AnswerCall, ClientSubscribe,
                            ClientUnsubscribe, ClientPublish, MembersChanged, ReadyNow, IncarnationNeeded, Note>;

struct TurnOutput {
  std::optional<Commit> commit;
  std::vector<Read> reads;
  std::vector<Action> actions;
};

}  // namespace headrace
