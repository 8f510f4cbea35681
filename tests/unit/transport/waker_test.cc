#include "transport/waker.h"

#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "transport/file_limit.h"
#include "transport/routing_id.h"

using namespace headrace;
using namespace headrace::transport;

namespace {

bool is_readable(const Waker& waker) {
  pollfd item{waker.fd(), POLLIN, 0};
  return ::poll(&item, 1, 0) == 1;
}

}  // namespace

TEST_CASE("wakes are coalesced until the owner clears them") {
  Waker waker;
  CHECK_FALSE(is_readable(waker));
  CHECK_FALSE(waker.clear());
  for (int i = 0; i < 1'000'000; ++i) waker.wake();
  CHECK(is_readable(waker));
  CHECK(waker.clear());
  CHECK_FALSE(is_readable(waker));
  CHECK_FALSE(waker.clear());
  waker.wake();
  CHECK(is_readable(waker));
}

TEST_CASE("no wake is lost between two threads, and the work before it is seen") {
  constexpr int kItems = 200'000;
  Waker waker;
  std::atomic<int> made{0};
  std::thread producer([&] {
    for (int i = 1; i <= kItems; ++i) {
      made.store(i, std::memory_order_relaxed);
      waker.wake();
    }
  });
  int seen = 0;
  bool in_time = true;
  while (seen < kItems && in_time) {
    pollfd item{waker.fd(), POLLIN, 0};
    in_time = ::poll(&item, 1, 20'000) == 1;
    waker.clear();
    seen = made.load(std::memory_order_relaxed);
  }
  producer.join();
  CHECK(in_time);
  CHECK(seen == kItems);
}

TEST_CASE("a routing id tells peers from clients and refuses all else") {
  const auto node = NodeId::from_halves(7, 8);
  const auto peer = RoutingId::peer(node, 0x01020304);
  CHECK(peer.raw().size() == 21);
  CHECK(peer.raw()[0] == 1);
  CHECK_FALSE(peer.is_client());
  CHECK(peer.raw().substr(1) == Bytes(node.raw()) + "\x01\x02\x03\x04");
  const auto client = RoutingId::new_client();
  CHECK(client.is_client());
  CHECK(client.raw()[0] == 2);
  CHECK(client != RoutingId::new_client());
  CHECK(RoutingId::parse(peer.raw()) == peer);
  CHECK(RoutingId::parse(client.raw()) == client);
  CHECK(RoutingId::parse(BytesView("\0abcd", 5)) == RoutingId::nameless());
  CHECK_FALSE(RoutingId::nameless().is_client());
  CHECK_FALSE(RoutingId::parse(BytesView("\0abc", 4)));
  CHECK_FALSE(RoutingId::parse("abcde"));
  CHECK_FALSE(RoutingId::parse(""));
  CHECK_FALSE(RoutingId::parse(peer.raw().substr(0, 20)));
  CHECK_FALSE(RoutingId::parse(Bytes(peer.raw()) + "x"));
  CHECK_FALSE(RoutingId::parse(Bytes(21, '\x00')));
  CHECK_FALSE(RoutingId::parse(Bytes(21, '\x03')));
}

TEST_CASE("the limit of open files is raised to what the system allows") {
  const auto limit = raise_file_limit();
  CHECK(limit >= 256);
  CHECK(raise_file_limit() == limit);
}
