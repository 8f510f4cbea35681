// Knocker: finds out whether a node that has closed its connection is gone. It connects to the
// node's address and hangs up at once.
//
// libzmq redials for ever and tells no reason, so a killed process looks like a busy one. The kernel
// knows better: nobody listens there any more. Only that is reported. A listener that is slow, whose
// backlog is full, or that no packet reaches says nothing here, whatever may be wrong with it; one
// that greets is alive. A connection that is taken and dropped without a greeting belongs to a process
// that is just ending: it is tried again.
//
// Owned and called by one thread; nothing blocks. Limits: kAtATime connections, kWaiting addresses,
// and kBurst at once, then kASecond: in a large cluster connections end all the time, for want of use.
// What is beyond is not asked, which only means that the pings have to find out.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "transport/endpoint.h"

namespace headrace::transport {

class Knocker final {
 public:
  static constexpr std::size_t kAtATime = 16;
  static constexpr std::size_t kWaiting = 64;
  static constexpr Millis kPatience{1'000};
  static constexpr double kBurst = 64;
  static constexpr double kASecond = 4;
  static constexpr unsigned kTries = 4;
  static constexpr Millis kPause{100};

  Knocker() = default;
  ~Knocker();
  Knocker(const Knocker&) = delete;
  Knocker& operator=(const Knocker&) = delete;

  // Only numeric addresses. One that is being asked is not asked twice.
  void knock(const NodeId& node, const Endpoint& at, MonoTime now);
  // Goes on with what is under way. The nodes whose address refuses, each once.
  std::vector<NodeId> tick(MonoTime now);
  // When tick() has something to do at the latest; kNever if nothing is under way.
  MonoTime next() const;
  // Readable when tick() has something to do earlier; -1 if nothing is under way.
  int fd() const { return epoll_; }
  std::size_t under_way() const { return knocks_.size(); }

 private:
  enum class Answer : unsigned char { kPending, kRefused, kGreeted, kDropped, kUnknown };
  struct Knock {
    NodeId node;
    Endpoint at;
    int fd = -1;  // -1: waits until `due`, or for its turn
    bool connected = false;
    unsigned tries = 0;
    MonoTime due{};  // to begin, or to give up
  };

  Answer begin(Knock& knock, MonoTime now);
  static Answer look(Knock& knock);
  void hang_up(Knock& knock);

  std::deque<Knock> knocks_;
  std::size_t open_ = 0;
  double tokens_ = kBurst;
  MonoTime filled_{};
  int epoll_ = -1;
};

}  // namespace headrace::transport
