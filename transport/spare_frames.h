// SpareFrames: the memory of frames that have left, for the next ones. Given back to the system, it
// would have to be asked for and cleared again some thousand times a second.
//
// Shared by the Transport and the frames that libzmq still holds, which may outlive it. Any thread;
// nothing blocks. Keeps at most kMost buffers, and only such as hold a full batch.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/limits.h"

namespace headrace::transport {

class SpareFrames final {
 public:
  static constexpr std::size_t kMost = 32;

  void give(Bytes frame) {
    if (frame.capacity() < limits::kBatchBytes || frame.capacity() > 4 * limits::kBatchBytes) {
      return;
    }
    frame.clear();
    const std::lock_guard lock(mutex_);
    if (frames_.size() < kMost) frames_.push_back(std::move(frame));
  }
  // All there are, empty.
  std::vector<Bytes> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(frames_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Bytes> frames_;  // guarded by mutex_
};

}  // namespace headrace::transport
