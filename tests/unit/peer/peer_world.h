// A few Peers in one thread: their frames, disks and clock are the test's.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/peer/peer.h"
#include "core/store/memory_store.h"

namespace headrace {

class QuietEvents final : public EventPort {
 public:
  void set_member(const NodeId&, Incarnation, BytesView) override {}
  void remove_member(const NodeId&) override {}
  void receive(const job::Now&, const NodeId&, Incarnation, BytesView,
               const std::shared_ptr<const void>&) override {
    ++received;
  }
  std::size_t received = 0;
};

struct TestPeer {
  QuietEvents events;
  MemoryStore store;
  std::unique_ptr<Peer> peer;
  std::map<NodeId, Reach> reached;
  std::vector<StartJob> started;
  std::set<job::RunId> stopped;
  std::map<CallNumber, Result<Answer>> answers;
  std::map<Bytes, std::vector<Bytes>> to_clients;  // by routing id: messages
  std::vector<ClientSubscribe> subscribed;
  std::vector<std::uint64_t> unsubscribed;
  std::vector<ClientPublish> published;
  bool disk_stands_still = false;
  bool cut = false;  // nothing comes in or goes out
  CommitNumber synced = 0;

  const NodeId& id() const { return peer->config().id; }
};

class PeerWorld {
 public:
  // A node; the first is the seed of the others.
  TestPeer& add(std::uint64_t number, bool with_store, const std::string& owner = "");
  // Until nothing is under way.
  void settle();
  void advance(Nanos duration);
  // Until `holds`, or for a minute.
  template <typename Holds>
  bool until(Holds&& holds) {
    for (int i = 0; i < 600 && !holds(); ++i) advance(Millis{100});
    return holds();
  }
  void meet();  // until all know each other and their adverts

  // The i-th started job of `at` ends.
  void finish(TestPeer& at, std::size_t i, JobEnd end = {});

  void frame(TestPeer& to, BytesView bytes, BytesView client = {},
             wire::Lane lane = wire::Lane::kControl);
  static Bytes framed(const wire::FrameHead& head, const std::vector<Bytes>& messages);
  wire::FrameHead head(const TestPeer& from, const TestPeer& to) const;
  wire::FrameHead client_head(const TestPeer& to) const;
  // A client's message to `to`, and what it is sent in turn.
  std::vector<Bytes> ask(TestPeer& to, const Bytes& message, const Bytes& client = "client");

  CallNumber next_call() { return ++last_call_; }

  job::Now now{MonoTime{std::chrono::hours{1}}, WallTime{std::chrono::hours{24 * 365 * 50}}};
  std::vector<std::unique_ptr<TestPeer>> peers;
  std::size_t frames = 0;
  std::vector<std::pair<NodeId, Bytes>> seen;  // messages on the wire and who they went to

 private:
  bool turn(TestPeer& one);
  void carry(TestPeer& one, Action& action);
  TestPeer* at_endpoint(const std::string& endpoint);

  struct Frame {
    TestPeer* to;
    Bytes bytes;
    wire::Lane lane;
  };
  std::vector<Frame> wire_;
  CallNumber last_call_ = 0;
};

job::NewJob new_job(const std::string& topic = "work");
wire::Kind kind_of(BytesView message);

}  // namespace headrace
