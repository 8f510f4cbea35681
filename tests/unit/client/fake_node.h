// The node's side of the calls of clients, on real sockets, answering as the test says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/check.h"
#include "core/wire/blob.h"
#include "core/wire/call.h"
#include "core/wire/kinds.h"
#include "transport/transport.h"

namespace headrace::test {

inline constexpr std::chrono::seconds kDeadline{20};

// A call as it arrived. `message` holds it without its kind and with its number.
struct SeenCall {
  wire::Kind kind{};
  std::uint64_t call = 0;
  wire::Lane lane{};
  transport::RoutingId from = transport::RoutingId::nameless();
  Bytes message;
  NodeId receiver;

  template <typename Call>
  Call as() const {
    wire::Reader in(message);
    Call decoded;
    HEADRACE_CHECK(decode(in, decoded));
    return decoded;
  }
};

class FakeNode final : private transport::TransportEvents {
 public:
  // Answers a hello by itself, any other call by `answer`, on the node's thread.
  using Answer = std::function<void(FakeNode&, const SeenCall&)>;

  struct Options {
    std::uint64_t id = 1;
    Incarnation incarnation = 1;
    std::uint16_t port = 0;
    std::string cluster = "default";
    bool says_hello = true;
  };

  FakeNode(const Options& options, Answer answer)
      : options_(options), answer_(std::move(answer)), transport_(open(options)) {
    thread_ = std::thread([this] {
      while (!stop_) transport_.poll(send_held() ? Millis{100} : Millis{1}, *this);
    });
  }
  ~FakeNode() override {
    stop_ = true;
    transport_.wake();
    thread_.join();
  }

  NodeId id() const { return NodeId::from_halves(7, options_.id); }
  std::uint16_t port() const { return transport_.control_endpoint().port; }
  std::string endpoint() const { return transport_.control_endpoint().text(); }

  // On the node's thread.
  template <typename Message>
  void send(const transport::RoutingId& to, const Message& message) {
    Bytes bytes;
    encode(bytes, message);
    send_bytes(to, bytes);
  }
  void send_bytes(const transport::RoutingId& to, BytesView message) {
    held_
        .try_emplace(to, wire::FrameHead{wire::kProtocolVersion,
                                         wire::cluster_hash(options_.cluster),
                                         id(),
                                         options_.incarnation,
                                         {},
                                         0})
        .first->second.append(message);
  }
  void reply(const SeenCall& call, BytesView body = {}) {
    send(call.from, wire::Reply{call.call, 0, {}, {body, 0}});
  }
  void refuse(const SeenCall& call, Code code, BytesView message) {
    send(call.from, wire::Reply{call.call, static_cast<std::uint8_t>(code), message, {}});
  }
  // The pieces of the large payload that a call names, joined.
  Bytes blob(std::uint64_t number) { return blobs_[number]; }

  // Any thread: the calls of that kind so far.
  std::vector<SeenCall> seen(wire::Kind kind) {
    const std::lock_guard lock(mutex_);
    return seen_[kind];
  }
  bool wait_for(wire::Kind kind, std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return seen_[kind].size() >= count; });
  }

 private:
  static transport::Transport open(const Options& options) {
    auto opened = transport::Transport::open(
        {NodeId::from_halves(7, options.id), {"127.0.0.1", options.port}, 8});
    HEADRACE_CHECK(opened.has_value());
    return std::move(*opened);
  }

  // False if a client does not take all that is for it yet.
  bool send_held() {
    bool all = true;
    for (auto& [client, builder] : held_) {
      while (!builder.empty()) {
        Bytes frame = builder.take();
        if (transport_.reply(client, frame) != transport::Sent::kFull) continue;
        builder.put_back(std::move(frame));
        all = false;
        break;
      }
    }
    return all;
  }

  void on_frame(wire::Lane lane, const transport::RoutingId& from,
                transport::Frame frame) override {
    wire::FrameReader reader(frame.bytes());
    while (const auto message = reader.next()) {
      wire::Reader in(*message);
      in.array(32);
      SeenCall call{static_cast<wire::Kind>(in.u64()),
                    0,
                    lane,
                    from,
                    Bytes(in.rest()),
                    reader.head().receiver};
      if (call.kind == wire::Kind::kBlob) {
        wire::BlobPiece piece;
        HEADRACE_CHECK(decode(in, piece));
        blobs_[piece.blob].append(piece.bytes);
        continue;
      }
      if (call.kind != wire::Kind::kClientAlive) call.call = in.u64();
      {
        const std::lock_guard lock(mutex_);
        seen_[call.kind].push_back(call);
      }
      if (call.kind == wire::Kind::kCallHello) {
        if (options_.says_hello) greet(call);
      } else if (call.kind != wire::Kind::kClientAlive) {
        answer_(*this, call);
      }
      changed_.notify_all();
    }
    HEADRACE_CHECK(reader.ok());
  }
  void on_room(transport::LinkId, wire::Lane) override {}

  void greet(const SeenCall& call) {
    reply(call, encode_body(wire::HelloBody{id(), options_.incarnation, "fake", options_.cluster,
                                            transport_.data_endpoint().text(), true}));
  }

  const Options options_;
  const Answer answer_;
  transport::Transport transport_;
  std::map<transport::RoutingId, wire::FrameBuilder> held_;
  std::map<std::uint64_t, Bytes> blobs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<wire::Kind, std::vector<SeenCall>> seen_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace headrace::test
