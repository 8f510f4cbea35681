// A node: a program's membership in a Headrace cluster. Events, durable jobs, members.
//
// Threads:  any call from any thread, callbacks included, unless marked [no callback].
// Blocking: only open, close, run and calls with a `timeout` wait; closing the node ends a wait
// with kClosed. Callbacks run on worker threads with no lock held: for one Registration one at a
// time and in order, for one
//   Consumer up to `parallel` at once. What they throw is caught: counted and noted for an event, a
//   failed attempt for a job.
// Handles move, don't copy, and may outlive the Node (their calls then return kClosed). Nothing
// throws. kOutcomeUnknown: stored or not, nobody knows; repeat with the id in the error, and it is
// the same job.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/job/job.h"
#include "core/value/params.h"

namespace headrace {

class Node;
struct NodeOptions;

namespace runtime {
class Runtime;  // the threads behind a Node
struct InternalOptions;
Result<Node> open_node(NodeOptions options, InternalOptions internal);
struct ConsumerHandle;
struct RegistrationHandle;
struct RunningJobState;
}  // namespace runtime

struct NodeOptions {
  std::string name{};               // for people; empty: two words made from the id
  std::filesystem::path data{};     // empty: no store; durable calls go to `owner`
  std::string listen{};             // empty: loopback, a free port
  std::vector<std::string> join{};  // endpoints of nodes to join through
  std::string owner{};              // endpoint; empty: the first seed that has a store
  std::string cluster{"default"};   // nodes of another cluster are not heard
  std::map<std::string, std::string> tags{};
  bool insecure = false;  // needed to listen off loopback
  // Nodes of one cluster find each other by a beacon: those of this machine, or with `lan` those of
  // the network, on all of whose interfaces such a node listens.
  bool lan = false;
  bool beacon = true;
  // UDP; the same in all of them. 0: $HEADRACE_BEACON, a port or `off`, else 7420.
  std::uint16_t beacon_port = 0;
};

struct Event {
  std::string_view topic;  // views end with the callback
  const ParamSet& params;
  BytesView payload;
  NodeId node;  // the publisher
  EventId id;
  WallTime time;      // the publisher's clock
  std::uint64_t seq;  // counts the publisher's events
};

struct Published {
  EventId id{};
  std::uint32_t destinations = 0;  // nodes it went to, this one included
  std::uint32_t dropped = 0;       // nodes it did not go to for want of room
};

struct OnOptions {
  bool sink = false;  // offered the event even if a more specific topic was delivered
};

struct ConsumerOptions {
  unsigned parallel = 1;                 // slots: handlers that run at once
  std::optional<unsigned> hwm{}, lwm{};  // the window; unset: automatic
};

struct Member {
  NodeId id{};
  std::string name;
  std::string state;  // alive, suspect, dead, left
  std::string endpoint;
  Incarnation incarnation = 0;
  std::map<std::string, std::string> tags;
  std::string data_endpoint = {};
  std::uint64_t advert_version = 0;          // of what it says it consumes and listens to
  WallTime since{};                          // in that state, by the asker's clock
  std::optional<Micros> round_trip = {};     // of pings, smoothed; nothing for the node itself
};

class JobOutcome {
 public:
  static JobOutcome ok(Value result = {});
  static JobOutcome cancel(std::string why);  // it can never succeed
  static JobOutcome fail(std::string why, std::optional<Millis> retry_after = {});
  const JobEnd& end() const { return end_; }

 private:
  explicit JobOutcome(JobEnd end) : end_(std::move(end)) {}
  JobEnd end_;
};

// What a handler gets; ends when the handler returns.
class RunningJob {
 public:
  explicit RunningJob(runtime::RunningJobState& state) : state_(state) {}
  JobId id() const;
  std::string_view topic() const;
  const ParamSet& params() const;
  BytesView payload() const;
  unsigned attempt() const;  // 1 the first time
  unsigned deliveries() const;
  bool stopping() const;  // its result will not count any more, or its node is closing
  // Keeps what topic() and payload() show after the handler has returned.
  std::shared_ptr<const void> hold() const;

 private:
  runtime::RunningJobState& state_;
};

class [[nodiscard]] JobHandle {
 public:
  JobHandle(std::shared_ptr<runtime::Runtime> runtime, JobId id, Level level)
      : runtime_(std::move(runtime)), id_(id), level_(level) {}
  JobId id() const { return id_; }
  Level level() const { return level_; }  // as acknowledged
  Result<JobInfo> info(Millis timeout = Millis{5000}) const;
  // Waits for its end; no timeout: for ever. kTimeout; kJobFailed names the state and the reason.
  Result<Value> result(std::optional<Millis> timeout = {}) const;

 private:
  std::shared_ptr<runtime::Runtime> runtime_;
  JobId id_;
  Level level_;
};

class [[nodiscard]] Registration {
 public:
  explicit Registration(std::shared_ptr<runtime::RegistrationHandle> handle);
  ~Registration();  // unregisters, unless kept
  Registration(Registration&&) noexcept;
  Registration& operator=(Registration&&) noexcept;
  std::uint64_t id() const;
  void keep();  // let it stand until the node closes
  // True once; none of its callbacks starts afterwards; waits for one that runs, unless called
  // inside it.
  bool unregister();

 private:
  std::shared_ptr<runtime::RegistrationHandle> handle_;
};

class [[nodiscard]] Consumer {
 public:
  explicit Consumer(std::shared_ptr<runtime::ConsumerHandle> handle);
  ~Consumer();  // stops, unless kept
  Consumer(Consumer&&) noexcept;
  Consumer& operator=(Consumer&&) noexcept;
  void keep();  // let it stand until the node closes
  void stop();  // hands back what has not started; what runs goes on

 private:
  std::shared_ptr<runtime::ConsumerHandle> handle_;
};

class Jobs {
 public:
  explicit Jobs(std::weak_ptr<runtime::Runtime> runtime) : runtime_(std::move(runtime)) {}
  // Returns when the job is stored at spec.level.
  Result<JobHandle> add(JobSpec spec, Millis timeout = Millis{30000});
  // Waits for a place among the pending, not for the store. `done` runs on a worker thread. [no
  // callback]
  Result<void> add_async(JobSpec spec, std::function<void(Result<JobHandle>)> done);
  // All or none, in one commit.
  Result<std::vector<JobHandle>> add_many(std::vector<JobSpec> specs,
                                          Millis timeout = Millis{30000});
  Result<JobInfo> get(JobId id, Millis timeout = Millis{5000}) const;
  // The node's own store, else its owner's. Oldest first.
  Result<std::vector<JobInfo>> find(JobFilter filter, Millis timeout = Millis{5000}) const;

 private:
  std::weak_ptr<runtime::Runtime> runtime_;
};

class Node {
 public:
  // Opens store, sockets and threads; joins in the background. kInUse, kStore, kInvalid,
  // kForbidden.
  static Result<Node> open(NodeOptions options = {});
  ~Node();  // close(0)
  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;

  // Lets callbacks end within `drain`, hands back the rest, flushes, leaves. [no callback]
  Result<void> close(Millis drain = Millis{5000});
  void stop();         // ends run(); never waits
  Result<void> run();  // until stop(), SIGINT or SIGTERM. [no callback]

  const NodeId& id() const;
  const std::string& name() const;
  const std::string& endpoint() const;
  // Until it knows every member that its seeds know, with what they registered. [no callback]
  Result<void> wait_ready(Millis timeout = Millis{5000});

  Result<Registration> on(std::string topic, std::function<void(const Event&)> callback,
                          OnOptions options = {});
  Result<Consumer> consume(std::string topics, std::function<JobOutcome(RunningJob&)> handler,
                           ConsumerOptions options = {});
  // Waits up to `timeout` for room at destinations that are moving; one that is not is dropped and
  // counted.
  Result<Published> publish(std::string_view topic, const ParamSet& params = {},
                            BytesView payload = {}, Millis timeout = Millis{1000});
  Result<Published> try_publish(std::string_view topic, const ParamSet& params = {},
                                BytesView payload = {});
  std::size_t match_count(std::string_view topic) const;  // nodes that an event there would go to
  std::vector<Member> members() const;
  Jobs& jobs();

 private:
  friend Result<Node> runtime::open_node(NodeOptions options, runtime::InternalOptions internal);
  explicit Node(std::shared_ptr<runtime::Runtime> runtime);
  std::shared_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<Jobs> jobs_;
};

}  // namespace headrace
