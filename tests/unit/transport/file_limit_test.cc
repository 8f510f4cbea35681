// What happens when descriptors run out: an error, never an abort. Each case in a process of its own,
// whose limit it lowers.
#include "transport/file_limit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "tests/unit/transport/support.h"

using namespace headrace;
using namespace headrace::transport;
using namespace headrace::transport::test;

namespace {

// Whether `holds` is true in a process that may have `limit` descriptors; an abort is not.
bool in_child(rlim_t limit, const std::function<bool()>& holds) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit lowered{limit, limit};
    ::_exit(::setrlimit(RLIMIT_NOFILE, &lowered) == 0 && holds() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a node that finds too few descriptors at its start says so") {
  CHECK(in_child(20, [] {
    const auto opened = Transport::open({.node = node_id(1)});
    return !opened && opened.error().code == Code::kFull &&
           opened.error().message.find("20") != std::string::npos &&
           opened.error().message.find("ulimit -n") != std::string::npos;
  }));
}

TEST_CASE("descriptors that run out are noticed before the last one is taken") {
  CHECK(in_child(40, [] { return !descriptors_run_out(8) && descriptors_run_out(40); }));
  CHECK(in_child(
      40, [] { return check_descriptors(20).has_value() && !check_descriptors(41).has_value(); }));
}

// The undefined-behaviour sanitizer opens a pipe for some of its checks, and takes a lack of descriptors
// for a fault.
#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a node that talks to more peers than it has descriptors for reaches all, in turn") {
  CHECK(in_child(120, [] {
    auto node = Transport::open({.node = node_id(1)});
    auto peer = Transport::open({.node = node_id(2)});
    if (!node || !peer) return false;
    Inbox sender;
    Inbox inbox;
    constexpr std::size_t kLinks = 200;
    for (std::size_t i = 0; i < kLinks; ++i) {
      const auto link = node->open_link(peer->control_endpoint()).value();
      // A dial that finds no descriptor is refused, and tried again by whoever has something to say.
      if (!turn_until(*peer, inbox, [&] {
            Bytes frame = "x";
            node->send(link, Lane::kControl, frame);
            node->poll(Millis{1}, sender);
            return inbox.mail.size() > i;
          })) {
        return false;
      }
    }
    return node->stats().starved > 0 && node->stats().evicted > 0;
  }));
}
#endif
