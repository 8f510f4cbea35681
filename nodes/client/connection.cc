#include "nodes/client/connection.h"

#include <sys/random.h>

#include <algorithm>
#include <future>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::client {
namespace {

constexpr Millis kForgotten{3000};  // silent for so long, the node may have dropped subscriptions
constexpr std::size_t kBlobs = 64;
constexpr std::size_t kBlobBytes = 4 * limits::kJobPayloadBytes;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  HEADRACE_CHECK(getrandom(&number, sizeof(number), 0) == sizeof(number));
  return number;
}

std::string nobody_at(const transport::Endpoint& node) {
  return "no answer from " + node.text() +
         ": is a node running there? Start one with: headrace node --listen " + node.text();
}

}  // namespace

Connection::Connection(transport::ClientChannel channel, transport::Endpoint node)
    : channel_(std::move(channel)),
      node_(std::move(node)),
      id_half_(random_number()),
      blobs_(kBlobs, kBlobBytes),
      lanes_{wire::FrameBuilder({}), wire::FrameBuilder({})},
      last_job_(random_number()) {}

Connection::~Connection() { close(); }

Result<std::shared_ptr<Connection>> Connection::open(const transport::Endpoint& node,
                                                     const std::string& cluster, Millis timeout) {
  const auto deadline = Steady::now() + timeout;
  auto channel = transport::ClientChannel::open(node);
  if (!channel) return fail(channel.error());
  if (const auto there = channel->connect(timeout); !there) {
    return fail(Code::kUnreachable, nobody_at(node));
  }
  std::shared_ptr<Connection> connection(new Connection(std::move(*channel), node));
  if (auto greeted = connection->greet(cluster, deadline); !greeted) return fail(greeted.error());
  connection->thread_ = std::thread([raw = connection.get()] { raw->run(); });
  return connection;
}

// The first hello, before there is a thread.
Result<void> Connection::greet(const std::string& cluster, Steady::time_point deadline) {
  while (!online_) {
    const auto now = Steady::now();
    if (now >= deadline) return fail(Code::kUnreachable, nobody_at(node_));
    if (now - hello_at_ >= kRepeat) say_hello(now);
    flush();
    const auto left = std::chrono::ceil<Millis>(std::min(deadline, hello_at_ + kRepeat) - now);
    auto frame = channel_.recv(left);
    if (!frame) return fail(Code::kUnreachable, nobody_at(node_));
    if (*frame) take(**frame);
  }
  first_ = hello_;
  if (!cluster.empty() && cluster != first_.cluster) {
    return fail(Code::kForbidden, "the node at " + node_.text() + " is of cluster '" +
                                      first_.cluster + "', not of '" + cluster +
                                      "': name its cluster, or another node");
  }
  return {};
}

void Connection::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  room_.notify_all();
  if (!thread_.joinable()) return;
  channel_.wake();
  thread_.join();
}

JobId Connection::new_job_id() {
  const std::lock_guard lock(mutex_);
  return JobId::from_halves(id_half_, ++last_job_);
}

bool Connection::has_room(const Request& request) const {
  return pending_.empty() || (pending_.size() < limits::kClientCalls &&
                              pending_bytes_ + request.payload.size() <= limits::kClientCallBytes);
}

Result<void> Connection::call(Request request) {
  {
    std::unique_lock lock(mutex_);
    const auto free = [&] { return closing_ || has_room(request); };
    // wait_until(max) would overflow inside.
    const auto until = std::min(request.deadline, Steady::now() + std::chrono::hours(24 * 365));
    if (!room_.wait_until(lock, until, free)) {
      return fail(Code::kFull, "the node at " + node_.text() + " has answered none of " +
                                   std::to_string(pending_.size()) +
                                   " calls in the time given: try again later");
    }
    if (closing_) return fail(Code::kClosed, "the client is closed");
    const auto number = ++last_call_;
    pending_bytes_ += request.payload.size();
    due_.emplace(std::min(request.deadline, Steady::now() + kRepeat + request.patience), number);
    auto& pending = pending_.emplace(number, Pending{std::move(request)}).first->second;
    if (online_) send(number, pending);
  }
  channel_.wake();
  return {};
}

Result<Bytes> Connection::ask(Request request) {
  std::promise<Result<Bytes>> promise;
  auto answer = promise.get_future();
  request.done = [&promise](Result<Bytes> body) { promise.set_value(std::move(body)); };
  if (auto called = call(std::move(request)); !called) return fail(called.error());
  return answer.get();
}

std::uint64_t Connection::new_subscription() {
  const std::lock_guard lock(mutex_);
  return ++last_subscription_;
}

Result<std::shared_ptr<EventQueue>> Connection::subscribe(std::uint64_t number,
                                                          const std::string& topic, bool sink,
                                                          Steady::time_point deadline) {
  auto queue = std::make_shared<EventQueue>();
  {
    const std::lock_guard lock(mutex_);
    subscriptions_.emplace(number, Subscribed{topic, sink, queue});
  }
  Request request;
  request.deadline = deadline;
  request.encode = [=](Bytes& out, std::uint64_t call, bool, const wire::PayloadRef&) {
    encode(out, wire::CallSubscribe{call, number, topic, sink});
  };
  const auto answer = ask(std::move(request));
  if (answer) return queue;
  unsubscribe(number);
  return fail(answer.error());
}

void Connection::unsubscribe(std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    if (subscriptions_.erase(number) == 0) return;
  }
  Request request;
  request.deadline = Steady::now() + kRepeat;  // else the node finds out by itself
  request.done = [](const Result<Bytes>&) {};
  request.encode = [=](Bytes& out, std::uint64_t call, bool, const wire::PayloadRef&) {
    encode(out, wire::CallUnsubscribe{call, number});
  };
  static_cast<void>(call(std::move(request)));  // closing: likewise
}

void Connection::send(std::uint64_t number, Pending& pending) {
  auto& out = lane(pending.request.lane);
  const Bytes& payload = pending.request.payload;
  wire::PayloadRef ref{payload, 0};
  if (payload.size() > limits::kChunkBytes) {
    ref = {{}, ++last_blob_};
    wire::cut_blob(ref.blob, payload, limits::kChunkBytes,
                   [&out](const Bytes& piece) { out.append(piece); });
  }
  scratch_.clear();
  pending.request.encode(scratch_, number, pending.sent, ref);
  out.append(scratch_);
  pending.sent = true;
}

void Connection::send_subscription(std::uint64_t number, const Subscribed& subscribed) {
  scratch_.clear();
  encode(scratch_, wire::CallSubscribe{++last_call_, number, subscribed.topic, subscribed.sink});
  lane(wire::Lane::kControl).append(scratch_);
}

void Connection::say_hello(Steady::time_point now) {
  hello_at_ = now;
  hello_call_ = ++last_call_;
  scratch_.clear();
  encode(scratch_, wire::CallHello{hello_call_});
  auto& control = lane(wire::Lane::kControl);
  const auto head = control.head();
  control.set_head({});  // to whoever is there
  control.append(scratch_);
  control.set_head(head);
}

void Connection::say_alive(Steady::time_point now) {
  const bool forgotten = now - alive_at_ > kForgotten;
  alive_at_ = now;
  if (pending_.empty() && subscriptions_.empty()) return;
  scratch_.clear();
  encode(scratch_, wire::ClientAlive{});
  lane(wire::Lane::kControl).append(scratch_);
  if (!forgotten) return;
  for (const auto& [number, subscribed] : subscriptions_) send_subscription(number, subscribed);
}

Connection::Pending Connection::remove(std::unordered_map<std::uint64_t, Pending>::iterator at) {
  Pending pending = std::move(at->second);
  pending_bytes_ -= pending.request.payload.size();
  pending_.erase(at);
  return pending;
}

}  // namespace headrace::client
