// A client: uses a node from outside, without joining the cluster, binding a port or storing
// anything. For short scripts and for the command line.
//
// Threads:  any call from any thread; one thread of the client's own talks to the node and runs the
//   callbacks of add_async, which must not wait for anything.
// Blocking: connect and calls with a `timeout`, up to that time; add_async waits for a place among
//   at most limits::kClientCalls.
// A call that stays unanswered is repeated each second, over a restart of the node too; so are
//   subscriptions. An add carries an id made here: a repeat is the same job. A publish is never
//   repeated.
// Fails with kUnreachable if the node cannot be reached, kTimeout if it did not answer,
//   kOutcomeUnknown if it may have added (repeat with the id in the error: the same job) or
//   published, kClosed once the Client is gone, and with whatever the node answers. Nothing throws.
#pragma once

#include <cstdint>
#include <functional>
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
#include "nodes/client/event_queue.h"
#include "nodes/node.h"

namespace headrace {

namespace client {
class Connection;
}  // namespace client

inline constexpr std::string_view kDefaultEndpoint = "tcp://127.0.0.1:7420";

struct ClientOptions {
  std::string endpoint{kDefaultEndpoint};  // of the node
  std::string cluster{};                   // empty: whichever the node is of
  Millis timeout{5000};                    // for the node's first answer
};

// Events from its start to its end. May outlive the Client.
class [[nodiscard]] ClientSubscription {
 public:
  ClientSubscription(std::weak_ptr<client::Connection> connection, std::uint64_t number,
                     std::shared_ptr<client::EventQueue> queue)
      : connection_(std::move(connection)), number_(number), queue_(std::move(queue)) {}
  ~ClientSubscription();
  ClientSubscription(ClientSubscription&&) noexcept = default;
  ClientSubscription& operator=(ClientSubscription&&) = delete;

  // The next event, in each publisher's order; none when the time is over.
  Result<std::optional<ClientEvent>> next(Millis timeout) { return queue_->next(timeout); }
  // Events that came while limits::kClientEventBytes were waiting to be taken.
  std::uint64_t dropped() const { return queue_->dropped(); }

 private:
  std::weak_ptr<client::Connection> connection_;
  std::uint64_t number_;
  std::shared_ptr<client::EventQueue> queue_;
};

class Client {
 public:
  // kInvalid for an endpoint that is none; kUnreachable; kForbidden if the node is of another
  // cluster.
  static Result<Client> connect(ClientOptions options = {});
  ~Client();  // calls under way end
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // The node, as it said at connect.
  const NodeId& node() const;
  const std::string& node_name() const;

  // Returns when the job is stored at spec.level.
  Result<JobId> add(JobSpec spec, Millis timeout = Millis{30000});
  // Returns as soon as the add is on its way; `done` runs when it is stored, or has failed.
  Result<void> add_async(JobSpec spec, std::function<void(Result<JobId>)> done,
                         Millis timeout = Millis{30000});
  Result<JobInfo> get(JobId id, Millis timeout = Millis{5000});
  // Oldest first.
  Result<std::vector<JobInfo>> find(JobFilter filter = {}, Millis timeout = Millis{5000});
  // The job when it has ended, however. No timeout: for ever, whatever becomes of the node.
  Result<JobInfo> wait(JobId id, std::optional<Millis> timeout = {});

  // `timeout` bounds the wait for room at destinations that are moving, as Node::publish does; the
  // node itself is given five seconds more.
  Result<Published> publish(std::string_view topic, const ParamSet& params = {},
                            BytesView payload = {}, Millis timeout = Millis{1000});
  // `topic` may be a pattern. Returns when the node has registered it.
  Result<ClientSubscription> subscribe(std::string topic, OnOptions options = {},
                                       Millis timeout = Millis{5000});
  Result<std::vector<Member>> members(Millis timeout = Millis{5000});

 private:
  explicit Client(std::shared_ptr<client::Connection> connection);
  std::shared_ptr<client::Connection> connection_;
};

}  // namespace headrace
