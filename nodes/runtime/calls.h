// Calls: who waits for which answer of the Peer.
//
// Owned by the loop and called by its thread. Each call that is opened gets exactly one answer.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/peer/peer.h"
#include "nodes/runtime/done_queue.h"

namespace headrace::runtime {

// Begins a call at the Peer.
using BeginCall = std::function<void(Peer&, const job::Now&, CallNumber)>;

struct Waiter {
  std::function<void(Result<Answer>)> callback;
  bool on_worker = false;  // user code: through the DoneQueue; else called on the loop, and short
  std::size_t bytes = 0;   // of its place
  bool adds = false;
};

class Calls final {
 public:
  explicit Calls(DoneQueue& done) : done_(done) {}

  CallNumber open(Waiter waiter);
  void answer(CallNumber call, Result<Answer> answer);
  // Without having been opened.
  void answer(Waiter waiter, Result<Answer> answer);
  // All that are open.
  void answer_all(const Error& error);
  // Answers for user code leave for the workers.
  void flush() { done_.push(for_workers_); }

  std::size_t adds() const { return adds_; }  // open ones

 private:
  DoneQueue& done_;
  CallNumber last_ = 0;
  std::size_t adds_ = 0;
  std::unordered_map<CallNumber, Waiter> waiting_;
  std::vector<Done> for_workers_;
};

}  // namespace headrace::runtime
