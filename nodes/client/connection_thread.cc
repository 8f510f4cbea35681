// The client's thread: sends what is ready, takes what comes, looks at what is due.
#include <algorithm>

#include "core/value/value_codec.h"
#include "core/wire/kinds.h"
#include "nodes/client/connection.h"

namespace headrace::client {
namespace {

constexpr Millis kBlocked{2};       // then a full lane is tried again
constexpr Millis kLongest{60'000};  // of one wait

}  // namespace

void Connection::run() {
  for (;;) {
    const bool all = flush();
    const auto wait = all || !online_ ? until_due() : kBlocked;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
    }
    auto frame = channel_.recv(wait);
    if (!frame) {
      on_broken();
    } else if (*frame) {
      take(**frame);
    }
    on_time();
  }
  on_end();
}

// False if a lane is full.
bool Connection::flush() {
  bool all = true;
  for (const auto which : {wire::Lane::kControl, wire::Lane::kData}) {
    for (;;) {
      Bytes frame;
      {
        const std::lock_guard lock(mutex_);
        if (lane(which).empty()) break;
        frame = lane(which).take();
      }
      if (channel_.send(which, frame, Millis{0})) continue;
      const std::lock_guard lock(mutex_);
      lane(which).put_back(std::move(frame));
      all = false;
      break;
    }
  }
  return all;
}

Millis Connection::until_due() {
  const std::lock_guard lock(mutex_);
  auto next = Steady::now() + kLongest;
  if (!due_.empty()) next = std::min(next, due_.top().first);
  if (!online_) next = std::min(next, hello_at_ + kRepeat);
  if (!pending_.empty() || !subscriptions_.empty()) next = std::min(next, alive_at_ + kRepeat);
  return std::max(Millis{0}, std::chrono::ceil<Millis>(next - Steady::now()));
}

void Connection::take(const transport::Frame& frame) {
  wire::FrameReader reader(frame.bytes());
  if (reader.head().version != wire::kProtocolVersion) return;
  const bool from_node = online_ && reader.head().sender == hello_.id;
  while (const auto message = reader.next()) {
    wire::Reader in(*message);
    in.array(UINT32_MAX);
    const auto kind = in.u64();
    if (kind == wire::number(wire::Kind::kReply)) {
      wire::Reply reply;
      if (decode(in, reply)) on_reply(reply, from_node);
    } else if (!from_node) {
      continue;  // of another node that had this address
    } else if (kind == wire::number(wire::Kind::kBlob)) {
      wire::BlobPiece piece;
      if (decode(in, piece)) blobs_.add(piece);
    } else if (kind == wire::number(wire::Kind::kClientEvent)) {
      wire::ClientEvent event;
      if (decode(in, event)) on_event(event);
    }
  }
}

std::optional<Bytes> Connection::whole(const wire::PayloadRef& ref) {
  if (ref.blob == 0) return Bytes(ref.inlined);
  return blobs_.take(ref.blob);
}

void Connection::on_reply(const wire::Reply& reply, bool from_node) {
  auto body = whole(reply.body);
  if (!body) return;  // a piece was lost: as if it had not been answered
  if (reply.call == hello_call_) {
    wire::HelloBody hello;
    if (reply.code == 0 && decode_body(*body, hello)) on_hello(hello);
    return;
  }
  Request::Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto at = pending_.find(reply.call);
    if (!from_node || at == pending_.end()) return;
    done = remove(at).request.done;
  }
  room_.notify_one();
  if (reply.code == 0) {
    done(std::move(*body));
  } else {
    done(fail(static_cast<Code>(reply.code), std::string(reply.message)));
  }
}

void Connection::on_event(const wire::ClientEvent& event) {
  auto payload = whole(event.payload);
  std::shared_ptr<EventQueue> queue;
  {
    const std::lock_guard lock(mutex_);
    const auto at = subscriptions_.find(event.subscription);
    if (at == subscriptions_.end()) return;
    queue = at->second.queue;
  }
  auto params = decode_params(event.params);
  if (!payload || !params) return queue->drop();
  const auto bytes =
      event.topic.size() + event.params.size() + payload->size() + sizeof(ClientEvent);
  queue->push({std::string(event.topic), std::move(*params), std::move(*payload), event.node,
               event.id, event.time, event.seq},
              bytes);
}

// The node's answer to a hello: of the same life, then nothing has changed; or of another.
void Connection::on_hello(const wire::HelloBody& hello) {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    hello_call_ = 0;
    if (online_ && hello.id == hello_.id && hello.incarnation == hello_.incarnation) return;
    // Its two ROUTERs are bound to one interface: it is reached for data where it was for control.
    const auto told = transport::Endpoint::parse(hello.data_endpoint);
    if (!told || !channel_.set_data_endpoint({node_.host, told->port})) return;
    if (hello.id != hello_.id) {
      // Its store knows nothing of what was sent to the other.
      end_sent([](const Request& request) { return request.adds.has_value(); },
               "another node has taken over " + node_.text(), ended);
    }
    hello_ = hello;
    online_ = true;
    for (auto& builder : lanes_) {
      builder.clear();
      builder.set_head({wire::kProtocolVersion,
                        wire::cluster_hash(hello.cluster),
                        {},
                        0,
                        hello.id,
                        hello.incarnation});
    }
    send_all_again();
  }
  finish(ended);
}

void Connection::send_all_again() {
  alive_at_ = Steady::now();
  for (const auto& [number, subscribed] : subscriptions_) send_subscription(number, subscribed);
  std::vector<std::uint64_t> numbers;  // in the order of the calls
  numbers.reserve(pending_.size());
  for (const auto& [number, pending] : pending_) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  for (const auto number : numbers) send(number, pending_.at(number));
}

// The connection is gone, and with it what was under way. The channel dials on by itself.
void Connection::on_broken() {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    online_ = false;
    hello_at_ = {};
    for (auto& builder : lanes_) builder.clear();
    end_sent([](const Request& request) { return !request.repeatable; },
             "the connection to the node at " + node_.text() + " broke", ended);
  }
  finish(ended);
}

void Connection::on_time() {
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Steady::now();
    bool silent = false;
    while (!due_.empty() && due_.top().first <= now) {
      const auto number = due_.top().second;
      due_.pop();
      look_at(now, number, silent, ended);
    }
    if ((!online_ || silent) && now - hello_at_ >= kRepeat) say_hello(now);
    if (online_ && now - alive_at_ >= kRepeat) say_alive(now);
  }
  finish(ended);
}

// A call that was not answered: it is over, or asked again.
void Connection::look_at(Steady::time_point now, std::uint64_t number, bool& silent, Ended& ended) {
  const auto at = pending_.find(number);
  if (at == pending_.end()) return;
  Pending& pending = at->second;
  const auto& request = pending.request;
  if (now >= request.deadline) {
    const auto why = "the node at " + node_.text() +
                     (online_ ? " did not answer in the time given"
                              : " went away and did not come back in the time given");
    ended.emplace_back(request.done, given_up(pending, why));
    remove(at);
    return;
  }
  if (online_ && request.repeatable) {
    silent = true;
    // A lane that holds frames back needs no more of them.
    if (lane(request.lane).empty()) send(number, pending);
  }
  due_.emplace(std::min(request.deadline, now + kRepeat + request.patience), number);
}

void Connection::end_sent(bool (*which)(const Request&), const std::string& why, Ended& ended) {
  for (auto at = pending_.begin(); at != pending_.end();) {
    const auto here = at++;
    if (!here->second.sent || !which(here->second.request)) continue;
    ended.emplace_back(here->second.request.done, given_up(here->second, why));
    remove(here);
  }
}

Error Connection::given_up(const Pending& pending, const std::string& why) const {
  const auto& request = pending.request;
  if (pending.sent && request.adds) {
    return {Code::kOutcomeUnknown, "job " + request.adds->hex() + " may be stored or not: " + why +
                                       "; adding it again with that id is the same job"};
  }
  if (pending.sent && !request.repeatable) {
    return {Code::kOutcomeUnknown, "the event may be published or not: " + why};
  }
  return {online_ ? Code::kTimeout : Code::kUnreachable, why};
}

void Connection::finish(Ended& ended) {
  for (auto& [done, error] : ended) done(fail(std::move(error)));
  if (!ended.empty()) room_.notify_all();
}

void Connection::on_end() {
  flush();
  Ended ended;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, pending] : pending_) {
      auto error = given_up(pending, "the client was closed");
      if (error.code != Code::kOutcomeUnknown) error.code = Code::kClosed;
      ended.emplace_back(pending.request.done, std::move(error));
    }
    pending_.clear();
    for (const auto& [number, subscribed] : subscriptions_) subscribed.queue->close();
  }
  finish(ended);
}

}  // namespace headrace::client
