// Every bound of the system in one place, each with its reason. A test stands at each limit and one past it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::limits {

// Topics: deep enough for any naming scheme, short enough to be a key.
inline constexpr std::size_t kTopicWords = 128;
inline constexpr std::size_t kTopicWordBytes = 255;
inline constexpr std::size_t kTopicBytes = 1024;

// Names of nodes, clusters, queues and tags: shown in one line, carried in gossip.
inline constexpr std::size_t kNameBytes = 128;
inline constexpr std::size_t kTagsBytes = 512;
inline constexpr std::size_t kTags = 64;
inline constexpr std::size_t kEndpointBytes = 256;

// Values: a decoder's stack and memory stay bounded whatever arrives.
inline constexpr std::size_t kValueDepth = 32;
inline constexpr std::size_t kValueElements = 1'000'000;    // in one array, map or ParamSet
inline constexpr std::size_t kParamsBytes = 1 << 20;        // an encoded ParamSet; bulk belongs into the payload
inline constexpr std::size_t kParamNameBytes = 255;

// Payloads.
inline constexpr std::size_t kJobPayloadBytes = 16 << 20;
inline constexpr std::size_t kEventPayloadBytes = 16 << 20;
inline constexpr std::size_t kChunkBytes = 256 << 10;       // larger payloads travel in chunks, so that a lane stays shared

// Frames: a batch closes here; small enough to cross the kernel in one piece, large enough to amortise it.
inline constexpr std::size_t kBatchBytes = 64 << 10;
// The largest frame taken: one chunk, its parameters and its head, with room to spare.
inline constexpr std::size_t kFrameBytes = 2 << 20;
inline constexpr std::size_t kMessagesPerFrame = 65'536;

// Results and errors of jobs, kept in history.
inline constexpr std::size_t kResultBytes = 1 << 20;
inline constexpr std::size_t kErrorBytes = 2'000;
inline constexpr std::size_t kErrorsKept = 20;              // the newest attempts of one job

// Jobs.
inline constexpr unsigned kDeliveries = 20;                 // dispatches of one job, whatever became of them
inline constexpr unsigned kAttempts = 1'000;                // the most that max_attempts may ask for
inline constexpr std::size_t kAddMany = 100'000;            // jobs in one add_many
inline constexpr std::size_t kFindLimit = 10'000;           // rows in one answer of find
inline constexpr unsigned kHighWaterMark = 4'096;           // of a job window
inline constexpr unsigned kParallel = 1'024;                // slots of one consumer

// Inside a node.
inline constexpr std::size_t kMembers = 20'000;
inline constexpr std::size_t kRegistrations = 200'000;      // of one node
inline constexpr std::size_t kConsumers = 1'024;            // of one node
inline constexpr std::size_t kClients = 1'024;              // that a node answers at a time
inline constexpr std::size_t kUnstoredJobs = 1'000'000;     // of level memory, unfinished: some 500 MB with their heads
inline constexpr std::size_t kUnstoredBytes = 512 << 20;    // their payloads and parameters
inline constexpr std::size_t kPendingCalls = 65'536;        // accepted from callers and not yet answered

// The parameters and payloads of those; a caller waits for room.
inline constexpr std::size_t kPendingCallBytes = 256 << 20;
// What may wait for a lane that is full, of one node and of all together: a 16 MiB payload and what goes with it.
inline constexpr std::size_t kLinkBytes = 64 << 20;
inline constexpr std::size_t kLinksBytes = 128 << 20;
// Batches are joined into one write up to this: half a write buffer of the store, some milliseconds of disk.
inline constexpr std::size_t kJoinedBytes = 4 << 20;

// Sockets. A DEALER costs two descriptors here and one at the peer.
// Open at a time; the least recently used makes room. Of control fewer are kept once they are silent: whom one talks to
// at rest changes with each probe. Evicting what is busy instead makes each message a dial.
inline constexpr std::size_t kDealers = 1'024;              // of each lane
inline constexpr std::size_t kControlKept = 128;
inline constexpr std::size_t kDescriptorReserve = 24;       // left to others: files of the store, those who dial in
inline constexpr int kControlFrames = 1'000;                // queued on a control connection, each way
inline constexpr int kDataFrames = 64;                      // queued on a data connection, each way: 4 MiB of full batches
inline constexpr std::size_t kTurnFrames = 1'000;           // taken from a lane before the loop sees to its timers
inline constexpr std::size_t kTurnBytes = 2 << 20;          // likewise: some milliseconds' worth of small messages

// Membership.
inline constexpr std::size_t kGossipBytes = 16 << 10;       // updates in one message: large batches stop gossip storms
inline constexpr std::size_t kUpdatesPerMessage = 4'096;    // taken from one message; far above what fits the budget
inline constexpr std::size_t kSyncEntries = 1'024;          // in one chunk of a view, some 32 kB
inline constexpr std::size_t kAdvertBytes = 16 << 20;       // of one node: kRegistrations of 80 bytes
inline constexpr std::size_t kAdvertChunkBytes = 64 << 10;  // small: adverts share the control lane
inline constexpr std::size_t kSeeds = 1'024;                // seeds and remembered peers dialled at a start
inline constexpr std::size_t kRelayedPings = 1'024;         // pings under way on behalf of others
inline constexpr std::uint64_t kRefutations = 1ULL << 40;   // of one incarnation; an honest node never gets there

// Windows (core/flow).
inline constexpr std::uint64_t kWindowCount = 1ULL << 62;   // cumulative numbers: sums of two never overflow
inline constexpr std::size_t kHeldItems = 2 * kHighWaterMark;  // held or unacknowledged of one sender: the window's own bound
inline constexpr std::size_t kClaims = 32'768;  // of earlier lives, a message: within a frame whatever the numbers
inline constexpr std::size_t kWindowSenders = kMembers;     // that one consumer accounts for; further ones are not heard
inline constexpr std::uint64_t kWindowWeight = 100;         // of a sender in the split of a window
inline constexpr std::uint64_t kLaneWindowBytes = 4 << 20;  // of an event lane: some milliseconds of a fast link

// Events.
inline constexpr std::size_t kRouteCacheBytes = 8 << 20;    // answers of the topic tree, kept by topic
inline constexpr std::size_t kEventQueueBytes = 64 << 20;   // waiting for sockets, to all nodes: 16 full windows
inline constexpr std::size_t kRegistrationQueueBytes = 8 << 20;  // waiting for one registration's callbacks: two windows
inline constexpr std::size_t kGoneTold = 1'024;             // topics that one sender was told are gone; then told anew

// Selectors: whoever registers has them evaluated at every publisher, so each costs little.
inline constexpr std::size_t kSelectorBytes = 8'192;        // as written, and in the canonical form
inline constexpr std::size_t kSelectorDepth = 64;           // of parentheses, signs and NOTs: bounds the stack
inline constexpr std::size_t kSelectorNodes = 1'024;        // operands and operators: some 10 ns each
inline constexpr std::size_t kSelectorNames = 64;           // different parameters and fields
inline constexpr std::size_t kSelectorInList = 512;         // texts of one IN
inline constexpr std::size_t kSelectorLikeSteps = 256;      // characters of one pattern: each may cost a pass over the text

// Clients.
inline constexpr std::size_t kClientCalls = 16'384;         // of one client, not yet answered: an eighth of a second's adds
inline constexpr std::size_t kClientCallBytes = 64 << 20;   // payloads of these; one payload always fits
inline constexpr std::size_t kClientSubscriptions = 4'096;  // of one client
inline constexpr std::size_t kClientEventBytes = 16 << 20;  // of one subscription, waiting to be taken

}  // namespace headrace::limits
