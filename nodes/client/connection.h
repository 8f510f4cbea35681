// What a client and its node have to do with each other: the calls under way, the subscriptions,
// and the thread that owns the channel.
//
// Owned by the Client; any thread, except where marked. start() waits for the node's first answer.
//
// The node's answer to a hello says who it is and where its data ROUTER is. When the connection
// broke, or calls stay unanswered, the client says hello again; if another life of the node
// answers, everything that is open is asked again. Calls that were never answered are repeated each
// second until their deadline.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/wire/blob.h"
#include "core/wire/call.h"
#include "core/wire/frame.h"
#include "nodes/client/event_queue.h"
#include "nodes/client/request.h"
#include "transport/client_channel.h"
#include "transport/endpoint.h"

namespace headrace::client {

class Connection final {
 public:
  // kUnreachable, kForbidden: a node of another cluster than `cluster`, if that is named.
  static Result<std::shared_ptr<Connection>> open(const transport::Endpoint& node,
                                                  const std::string& cluster, Millis timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // As the node said at open().
  const wire::HelloBody& greeting() const { return first_; }

  // Waits for a place, up to the deadline. After an error `done` is not called; else it will be,
  // once.
  Result<void> call(Request request);
  // call(), and waits for its end.
  Result<Bytes> ask(Request request);

  JobId new_job_id();

  Result<std::shared_ptr<EventQueue>> subscribe(std::uint64_t number, const std::string& topic,
                                                bool sink, Steady::time_point deadline);
  void unsubscribe(std::uint64_t number);
  std::uint64_t new_subscription();

  // Ends the calls under way and the thread. Not on the client's own thread.
  void close();

 private:
  struct Pending {
    Request request;
    bool sent = false;  // it may have reached the node
  };
  struct Subscribed {
    std::string topic;
    bool sink = false;
    std::shared_ptr<EventQueue> queue;
  };
  using Due = std::pair<Steady::time_point, std::uint64_t>;  // when to look at a call
  using Ended = std::vector<std::pair<Request::Done, Error>>;

  // Between two hellos, repeats of a call, signs of life.
  static constexpr Millis kRepeat{1000};

  Connection(transport::ClientChannel channel, transport::Endpoint node);

  Result<void> greet(const std::string& cluster, Steady::time_point deadline);

  // On the client's thread.
  void run();
  bool flush();
  Millis until_due();
  void take(const transport::Frame& frame);
  void on_reply(const wire::Reply& reply, bool from_node);
  void on_event(const wire::ClientEvent& event);
  void on_hello(const wire::HelloBody& hello);
  void on_time();
  void on_broken();
  void on_end();
  void finish(Ended& ended);
  std::optional<Bytes> whole(const wire::PayloadRef& ref);

  // With mutex_ held.
  wire::FrameBuilder& lane(wire::Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  void say_hello(Steady::time_point now);
  void say_alive(Steady::time_point now);
  void send(std::uint64_t number, Pending& pending);
  void send_subscription(std::uint64_t number, const Subscribed& subscribed);
  void send_all_again();
  void look_at(Steady::time_point now, std::uint64_t number, bool& silent, Ended& ended);
  void end_sent(bool (*which)(const Request&), const std::string& why, Ended& ended);
  bool has_room(const Request& request) const;
  Pending remove(std::unordered_map<std::uint64_t, Pending>::iterator at);
  Error given_up(const Pending& pending, const std::string& why) const;

  transport::ClientChannel channel_;
  const transport::Endpoint node_;
  wire::HelloBody first_;
  const std::uint64_t id_half_;  // of the ids of this client's jobs
  wire::BlobAssembler blobs_;    // the client's thread

  std::mutex mutex_;
  std::condition_variable room_;
  wire::HelloBody hello_;  // the node as it is now
  wire::FrameBuilder lanes_[2];
  Bytes scratch_;  // the message being written
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::size_t pending_bytes_ = 0;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::map<std::uint64_t, Subscribed> subscriptions_;
  std::uint64_t last_call_ = 0;
  std::uint64_t last_blob_ = 0;
  std::uint64_t last_subscription_ = 0;
  std::uint64_t last_job_ = 0;
  std::uint64_t hello_call_ = 0;  // 0: none is open
  Steady::time_point hello_at_{};
  Steady::time_point alive_at_{};
  bool online_ = false;  // the node answered, and the connection stands since
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace headrace::client
