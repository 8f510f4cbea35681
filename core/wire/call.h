// Calls: what a client, or a node without a store, asks of a node, and what it answers.
//
// [kind, call, fields...]: `call` is the caller's number, echoed in the reply. A caller repeats a call that was not
// answered with `repeat` set; adds carry ids made by the caller, so a repeat is the same job. Structs of views:
// they live as long as the frame.
//
// A client's first call is CallHello, whose reply tells it where the data ROUTER is and whom to name in its frames' heads.
// Until then they name cluster 0 and no receiver; a node answers that call whatever the head says.
//
// A client sends calls that carry payloads (adds, publishes) to the data ROUTER, pieces of large payloads first, and
// all others to the control ROUTER; it is answered on the control ROUTER. Its frames name no sender, its routing id
// says who it is. kFull in a reply: too much is under way, ask again later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/wire/codec.h"
#include "core/wire/job.h"
#include "core/wire/kinds.h"

namespace headrace::wire {

struct NewJob {
  JobId id;
  BytesView topic;
  std::uint8_t priority = 4;
  std::optional<WallTime> not_before;
  std::uint32_t max_attempts = 10;
  std::uint8_t level = 0;     // Level
  BytesView params;
  PayloadRef payload;
};

struct CallHello {            // reply: a HelloBody
  std::uint64_t call = 0;
};
struct CallAddJobs {          // all or none; reply: the level, and the ids
  std::uint64_t call = 0;
  bool repeat = false;
  std::vector<NewJob> jobs;
};
struct CallGetJob {           // reply: one JobInfo
  std::uint64_t call = 0;
  JobId id;
};
struct CallFindJobs {         // reply: an array of JobInfo
  std::uint64_t call = 0;
  std::uint8_t state = 0;     // 0: any
  BytesView topic;
  std::uint64_t limit = 100;
};
// Reply: the JobInfo when the job has ended, or as it is after `patience`: the caller asks again.
struct CallWaitJob {
  std::uint64_t call = 0;
  JobId id;
  Millis patience{1000};
};
struct CallMembers {          // reply: an array of MemberRow
  std::uint64_t call = 0;
};
struct CallPublish {          // reply: id, destinations, dropped
  std::uint64_t call = 0;
  BytesView topic;
  BytesView params;
  PayloadRef payload;
  Millis patience{1000};      // how long it may wait for room
};
// Events come as ClientEvent until kCallUnsubscribe, or until nothing was heard of the client for a while.
struct CallSubscribe {        // reply: no body
  std::uint64_t call = 0;
  std::uint64_t subscription = 0;  // the client's number
  BytesView topic;
  bool sink = false;
};
struct CallUnsubscribe {
  std::uint64_t call = 0;
  std::uint64_t subscription = 0;
};
// To a client that has subscriptions or waits: it says this each second.
struct ClientAlive {};

struct Reply {
  std::uint64_t call = 0;
  std::uint8_t code = 0;      // 0: done; else Code
  BytesView message;
  PayloadRef body;            // large ones come as blobs ahead of the reply, on the same lane
};

struct ClientEvent {
  std::uint64_t subscription = 0;
  NodeId node;
  EventId id;
  WallTime time{};
  std::uint64_t seq = 0;
  BytesView topic;
  BytesView params;
  PayloadRef payload;
};

struct MemberRow {
  NodeId id;
  std::string name;
  std::string state;
  std::string endpoint;
  Incarnation incarnation = 0;
  std::vector<std::pair<std::string, std::string>> tags;
  std::string data_endpoint = {};
  std::uint64_t advert_version = 0;
  Millis age{0};                             // how long it has been in that state
  std::optional<Micros> round_trip = {};     // of pings; none yet, or the node itself: nothing
};

struct HelloBody {
  NodeId id;
  Incarnation incarnation = 0;
  std::string name;
  std::string cluster;
  std::string data_endpoint;
  bool has_store = false;
};

struct PublishedBody {
  EventId id;
  std::uint32_t destinations = 0;
  std::uint32_t dropped = 0;
};

void encode(Bytes& out, const CallHello& call);
bool decode(Reader& in, CallHello& call);
void encode(Bytes& out, const CallAddJobs& call);
bool decode(Reader& in, CallAddJobs& call);
void encode(Bytes& out, const CallGetJob& call);
bool decode(Reader& in, CallGetJob& call);
void encode(Bytes& out, const CallFindJobs& call);
bool decode(Reader& in, CallFindJobs& call);
void encode(Bytes& out, const CallWaitJob& call);
bool decode(Reader& in, CallWaitJob& call);
void encode(Bytes& out, const CallMembers& call);
bool decode(Reader& in, CallMembers& call);
void encode(Bytes& out, const CallPublish& call);
bool decode(Reader& in, CallPublish& call);
void encode(Bytes& out, const CallSubscribe& call);
bool decode(Reader& in, CallSubscribe& call);
void encode(Bytes& out, const CallUnsubscribe& call);
bool decode(Reader& in, CallUnsubscribe& call);
void encode(Bytes& out, const ClientAlive& alive);
void encode(Bytes& out, const Reply& reply);
bool decode(Reader& in, Reply& reply);
void encode(Bytes& out, const ClientEvent& event);
bool decode(Reader& in, ClientEvent& event);

// Bodies of replies.
Bytes encode_body(const HelloBody& hello);
bool decode_body(BytesView body, HelloBody& hello);
Bytes encode_body(const std::vector<MemberRow>& rows);
bool decode_body(BytesView body, std::vector<MemberRow>& rows);
Bytes encode_body(const PublishedBody& published);
bool decode_body(BytesView body, PublishedBody& published);

}  // namespace headrace::wire
