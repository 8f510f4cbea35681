// Wakes a thread that waits in zmq_poll. One owner, who waits and calls clear(); wake() from any
// thread.
//
// Wakes are coalesced by a flag: of a million before the next clear() one reaches the kernel. What
// a thread did before wake() is seen by the owner after the clear() that follows.
#pragma once

#include <atomic>

namespace headrace::transport {

class Waker final {
 public:
  Waker();  // ends the process if no descriptor can be had: see raise_file_limit()
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  void wake();
  // True if woken since the last call. Call it when fd() is readable, before looking at the work.
  bool clear();
  int fd() const { return fd_; }

 private:
  int fd_;
  std::atomic<bool> woken_{false};
};

}  // namespace headrace::transport
