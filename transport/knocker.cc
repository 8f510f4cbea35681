#include "transport/knocker.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

namespace headrace::transport {

namespace {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

std::optional<Address> address_of(const Endpoint& at) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
  if (::inet_pton(AF_INET, at.host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(at.port);
    address.size = sizeof *v4;
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  const auto zone = at.host.find('%');
  if (::inet_pton(AF_INET6, at.host.substr(0, zone).c_str(), &v6->sin6_addr) != 1) return {};
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(at.port);
  if (zone != std::string::npos) v6->sin6_scope_id = ::if_nametoindex(at.host.c_str() + zone + 1);
  address.size = sizeof *v6;
  return address;
}

}  // namespace

Knocker::~Knocker() {
  for (auto& knock : knocks_) hang_up(knock);
  if (epoll_ >= 0) ::close(epoll_);
}

void Knocker::knock(const NodeId& node, const Endpoint& at, MonoTime now) {
  if (knocks_.size() >= kWaiting) return;
  const bool asked = std::any_of(knocks_.begin(), knocks_.end(),
                                 [&](const Knock& knock) { return knock.node == node; });
  if (asked || !address_of(at)) return;
  const std::chrono::duration<double> passed = now - std::exchange(filled_, now);
  tokens_ = std::min(kBurst, tokens_ + passed.count() * kASecond);
  if (tokens_ < 1) return;
  tokens_ -= 1;
  if (epoll_ < 0) epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return;
  Knock knock;
  knock.node = node;
  knock.at = at;
  knock.due = now;
  knocks_.push_back(std::move(knock));
}

std::vector<NodeId> Knocker::tick(MonoTime now) {
  std::array<epoll_event, kAtATime> ready{};
  if (epoll_ >= 0) static_cast<void>(::epoll_wait(epoll_, ready.data(), ready.size(), 0));
  std::vector<NodeId> refused;
  std::erase_if(knocks_, [&](Knock& knock) {
    if (knock.fd < 0 && (knock.due > now || open_ >= kAtATime)) return false;
    auto answer = knock.fd < 0 ? begin(knock, now) : look(knock);
    if (answer == Answer::kPending && knock.due > now) return false;
    hang_up(knock);
    if (answer == Answer::kRefused) refused.push_back(knock.node);
    if (answer != Answer::kDropped || knock.tries >= kTries) return true;
    knock.due = now + kPause;
    return false;
  });
  if (knocks_.empty() && epoll_ >= 0) ::close(std::exchange(epoll_, -1));
  return refused;
}

Knocker::Answer Knocker::begin(Knock& knock, MonoTime now) {
  const auto address = address_of(knock.at);
  knock.fd = ::socket(address->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (knock.fd < 0) return Answer::kUnknown;
  ++open_;
  ++knock.tries;
  knock.connected = false;
  knock.due = now + kPatience;
  // Told of changes only: a connection that waits for its greeting is writable all the time.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, knock.fd, &event) != 0) return Answer::kUnknown;
  const auto* to = reinterpret_cast<const sockaddr*>(&address->bytes);
  if (::connect(knock.fd, to, address->size) == 0) return look(knock);
  if (errno == EINPROGRESS || errno == EINTR) return Answer::kPending;
  return errno == ECONNREFUSED ? Answer::kRefused : Answer::kUnknown;
}

Knocker::Answer Knocker::look(Knock& knock) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(knock.fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == ECONNREFUSED) return Answer::kRefused;
  if (error == ECONNRESET || error == EPIPE) return Answer::kDropped;
  if (error != 0) return Answer::kUnknown;
  sockaddr_storage peer{};
  size = sizeof peer;
  if (::getpeername(knock.fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return errno == ENOTCONN && !knock.connected ? Answer::kPending : Answer::kDropped;
  }
  knock.connected = true;
  char byte = 0;
  const auto got = ::recv(knock.fd, &byte, 1, MSG_DONTWAIT);
  if (got > 0) return Answer::kGreeted;
  if (got == 0) return Answer::kDropped;
  return errno == EAGAIN || errno == EINTR ? Answer::kPending : Answer::kDropped;
}

void Knocker::hang_up(Knock& knock) {
  if (knock.fd < 0) return;
  ::close(std::exchange(knock.fd, -1));
  --open_;
}

MonoTime Knocker::next() const {
  MonoTime next = kNever;
  for (const auto& knock : knocks_) {
    if (knock.fd >= 0 || open_ < kAtATime) next = std::min(next, knock.due);
  }
  return next;
}

}  // namespace headrace::transport
