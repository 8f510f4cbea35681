// SignalWatch: tells when SIGINT or SIGTERM came, for Node::run().
//
// A program's own handlers are left alone: the watch takes a signal only if nobody has set anything
// for it, and puts that back at its end, so that a second Ctrl-C during a long close ends the
// program as it always does. A program that handles these signals itself calls Node::stop(), or
// not, as it likes. Handlers are the process's, so watches share one descriptor: a signal ends all
// of them.
#pragma once

#include "core/base/error.h"

namespace headrace::runtime {

class SignalWatch final {
 public:
  static Result<SignalWatch> start();  // kFull: no descriptor to be had
  SignalWatch(SignalWatch&& other) noexcept;
  SignalWatch& operator=(SignalWatch&&) = delete;
  ~SignalWatch();

  // Readable once a signal has come; not to be read.
  int fd() const;

 private:
  SignalWatch() = default;

  bool active_ = true;
};

}  // namespace headrace::runtime
