// Board: what the loop lets the other threads read: the members, whether the node is ready, whether
// it is closed. Any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/base/time.h"
#include "nodes/node.h"

namespace headrace::runtime {

class Board final {
 public:
  void set_members(std::vector<Member> members);
  std::vector<Member> members() const;

  void set_ready();
  // kTimeout, kClosed.
  Result<void> wait_ready(MonoTime deadline);

  void set_closed();
  bool closed() const;
  // Sleeps that long, or until the node closes.
  void pause(Millis time);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const std::vector<Member>> members_ =
      std::make_shared<const std::vector<Member>>();  // all guarded by mutex_
  bool ready_ = false;
  bool closed_ = false;
};

}  // namespace headrace::runtime
