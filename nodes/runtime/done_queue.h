// DoneQueue: runs the `done` callbacks of add_async, one at a time and in the order of the answers,
// on a worker.
//
// Owned by the runtime. push() by the loop, once a turn. A callback that throws is noted and passed
// over. The place of a call is given back when its callback has ended, so a slow callback slows its
// callers instead of piling up.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/peer/actions.h"
#include "nodes/runtime/places.h"
#include "nodes/runtime/workers.h"

namespace headrace::runtime {

struct Done {
  std::function<void(Result<Answer>)> callback;
  Result<Answer> answer;
  std::size_t bytes = 0;  // of its place
};

class DoneQueue final {
 public:
  using Note = std::function<void(std::string)>;
  DoneQueue(Workers& workers, Places& places, Note note)
      : workers_(workers), places_(places), note_(std::move(note)) {}

  // Takes them out of `done`.
  void push(std::vector<Done>& done);
  bool idle() const;
  // Until all that were pushed have run.
  void wait_idle();

 private:
  void run();
  void call(Done& done);

  Workers& workers_;
  Places& places_;
  const Note note_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Done> waiting_;  // guarded by mutex_
  bool running_ = false;       // guarded by mutex_: a worker has it, or is asked to
};

}  // namespace headrace::runtime
