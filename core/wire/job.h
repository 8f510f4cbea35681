// The messages of jobs between an owner and a consumer. Structs of views: they live as long as the frame.
// Each encode() appends one whole message; each decode() reads what follows the kind and fails by the Reader.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/wire/codec.h"
#include "core/wire/window.h"

namespace headrace::wire {

// Names one dispatch of one job for ever: `life` is drawn at random at each start of an owner, so that not even
// a restored copy of its store repeats a token.
struct Token {
  std::uint64_t life = 0;
  std::uint64_t number = 0;  // counts the dispatches of that life from 1
  auto operator<=>(const Token&) const = default;
};

// A payload travels in its message, or before it in blobs that the message names.
struct PayloadRef {
  BytesView inlined;
  std::uint64_t blob = 0;  // 0: inlined
};

// Dispatch: run this job.
struct JobItem {
  WindowId window;
  ItemHead head;
  Token token;
  std::uint64_t job_number = 0;
  JobId id;
  BytesView topic;
  std::uint32_t attempt = 1;
  std::uint32_t deliveries = 1;
  BytesView params;
  PayloadRef payload;
};
void encode(Bytes& out, const JobItem& item);
bool decode(Reader& in, JobItem& item);

// A run has ended. Repeated until answered.
struct JobDone {
  Token token;
  std::uint64_t job_number = 0;
  std::uint8_t end = 0;  // JobEnd::Kind
  BytesView result;
  BytesView error;
  std::optional<Millis> retry_after;
};
void encode(Bytes& out, const JobDone& done);
bool decode(Reader& in, JobDone& done);

// What became of completions: each token with whether it was accepted. One life a message.
struct JobDoneAck {
  std::uint64_t life = 0;
  std::vector<std::uint64_t> accepted;
  std::vector<std::uint64_t> refused;
};
void encode(Bytes& out, const JobDoneAck& ack);
bool decode(Reader& in, JobDoneAck& ack);

// A job by its number at the owner, with the dispatch that is meant.
struct JobClaim {
  std::uint64_t job_number = 0;
  Token token;
};

// Will not run these: uncharged.
struct JobHandBack {
  std::vector<JobClaim> jobs;
};
void encode(Bytes& out, const JobHandBack& back);
bool decode(Reader& in, JobHandBack& back);

// Everything that the consumer's node holds of this owner's earlier lives, running or finished and unanswered,
// among the job numbers from `first` to `last`: more than limits::kClaims go in several messages.
// A recorded dispatch to this life of the consumer that is not listed is not held. Renews the leases of the rest.
// Sent when the owner is met in a new life, and each period until acknowledged with nothing left to claim.
struct JobClaims {
  std::vector<JobClaim> jobs;
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
};
void encode(Bytes& out, const JobClaims& claims);
bool decode(Reader& in, JobClaims& claims);
// All of them in ascending order, in as many messages as that takes; in one if there are none.
std::vector<JobClaims> in_messages(std::vector<JobClaim> claims);

// Claims heard; these of them are not current any more.
struct JobClaimsAck {
  std::vector<JobClaim> refused;
};
void encode(Bytes& out, const JobClaimsAck& ack);
bool decode(Reader& in, JobClaimsAck& ack);

}  // namespace headrace::wire
