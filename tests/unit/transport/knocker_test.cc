#include "transport/knocker.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

namespace {

const MonoTime kStart{std::chrono::hours(1)};

// A socket that listens on loopback and does nothing by itself.
struct Listener {
  explicit Listener(int backlog) : fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd, backlog) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    at = Endpoint{"127.0.0.1", ntohs(address.sin_port)};
  }
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int fd;
  Endpoint at;
};

Endpoint nobody() { return Listener(1).at; }

// Ticks at `now`, in real time until something is said or nothing is under way; false after the
// deadline.
bool run(Knocker& knocker, std::vector<NodeId>& refused, MonoTime now) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (refused.empty() && knocker.under_way() > 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    refused = knocker.tick(now);
  }
  return true;
}

}  // namespace

TEST_CASE("a node whose address refuses is named, once") {
  Knocker knocker;
  knocker.knock(node_id(1), nobody(), kStart);
  CHECK(knocker.next() == kStart);
  std::vector<NodeId> refused;
  REQUIRE(run(knocker, refused, kStart));
  CHECK(refused == std::vector{node_id(1)});
  CHECK(knocker.under_way() == 0);
  CHECK(knocker.next() == kNever);
  CHECK(knocker.fd() == -1);
}

TEST_CASE("a node that greets is alive, and is not waited for any longer") {
  auto node = open_node(1);
  Knocker knocker;
  knocker.knock(node_id(1), node.control_endpoint(), kStart);
  std::vector<NodeId> refused;
  REQUIRE(run(knocker, refused, kStart));
  CHECK(refused.empty());
  CHECK(knocker.under_way() == 0);
}

TEST_CASE("a listener that is slow is not taken for gone") {
  const Listener slow(8);  // the kernel answers for it; it never looks
  Knocker knocker;
  knocker.knock(node_id(1), slow.at, kStart);
  CHECK(knocker.tick(kStart).empty());
  CHECK(knocker.under_way() == 1);
  CHECK(knocker.next() == kStart + Knocker::kPatience);
  CHECK(knocker.tick(kStart + Knocker::kPatience).empty());
  CHECK(knocker.under_way() == 0);
}

TEST_CASE("a listener whose backlog is full is not taken for gone") {
  const Listener full(0);
  std::vector<int> waiting;
  for (int i = 0; i < 4; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(full.at.port);
    ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    waiting.push_back(fd);
  }
  Knocker knocker;
  knocker.knock(node_id(1), full.at, kStart);
  CHECK(knocker.tick(kStart).empty());
  CHECK(knocker.tick(kStart + Knocker::kPatience).empty());
  CHECK(knocker.under_way() == 0);
  for (const int fd : waiting) ::close(fd);
}

TEST_CASE("a process that ends while it is asked is found gone by asking again") {
  Listener ending(8);
  Knocker knocker;
  knocker.knock(node_id(1), ending.at, kStart);
  REQUIRE(knocker.tick(kStart).empty());
  ending.close();  // what waits in its backlog is cut
  CHECK(knocker.tick(kStart).empty());
  CHECK(knocker.next() == kStart + Knocker::kPause);
  std::vector<NodeId> refused;
  REQUIRE(run(knocker, refused, kStart + Knocker::kPause));
  CHECK(refused == std::vector{node_id(1)});
}

TEST_CASE("a node is asked once at a time, names are not asked, and what waits is bounded") {
  const Listener slow(1'024);
  Knocker knocker;
  knocker.knock(node_id(1), slow.at, kStart);
  knocker.knock(node_id(1), slow.at, kStart);
  CHECK(knocker.under_way() == 1);
  knocker.knock(node_id(2), Endpoint{"localhost", slow.at.port}, kStart);
  CHECK(knocker.under_way() == 1);
  for (std::uint64_t n = 2; n < 2 * Knocker::kWaiting; ++n) {
    knocker.knock(node_id(n), slow.at, kStart);
  }
  CHECK(knocker.under_way() == Knocker::kWaiting);
  // All get their turn, kAtATime of them at once.
  MonoTime now = kStart;
  for (std::size_t i = 0; i <= Knocker::kWaiting / Knocker::kAtATime; ++i) {
    CHECK(knocker.tick(now).empty());
    now += Knocker::kPatience;
  }
  CHECK(knocker.under_way() == 0);
}

TEST_CASE("after a burst no more than a few nodes a second are asked") {
  auto node = open_node(1);
  Knocker knocker;
  std::uint64_t n = 0;
  const auto asked = [&](MonoTime now) {
    std::size_t count = 0;
    for (int i = 0; i < 2 * static_cast<int>(Knocker::kBurst); ++i) {
      knocker.knock(node_id(++n), node.control_endpoint(), now);
      count += knocker.under_way();
      std::vector<NodeId> refused;
      REQUIRE(run(knocker, refused, now));
    }
    return count;
  };
  CHECK(asked(kStart) == 64);
  CHECK(asked(kStart) == 0);
  CHECK(asked(kStart + std::chrono::seconds(2)) == 8);
}

TEST_CASE("an address of IPv6 is asked like one of IPv4") {
  Knocker knocker;
  knocker.knock(node_id(1), Endpoint{"::1", nobody().port}, kStart);
  CHECK(knocker.under_way() == 1);
  std::vector<NodeId> refused;
  REQUIRE(run(knocker, refused, kStart));
  CHECK(knocker.under_way() == 0);
}
