// Runtime: a node brought to life. It makes the parts, starts the threads, answers the calls of the
// facade (node.h) and ends it all.
//
// Owned by the Node and by the handles that it gave out; closed by the Node, so that a handle which
// outlives it finds a closed runtime, never a dangling one. Threads, blocking and failures as
// node.h says for each call.
//
// Threads: hr-loop, hr-commit and hr-read (with a data directory), hr-work-1 and -2 for event
// callbacks and the answers of add_async, one more for each slot of a consumer, and libzmq's own.
// They are closed to signals. Stacks are the system's usual ones, of which only what is used
// counts; the number of malloc's arenas is the program's to choose (the daemon takes two).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nodes/node.h"
#include "nodes/runtime/board.h"
#include "nodes/runtime/consumer_entry.h"
#include "nodes/runtime/done_queue.h"
#include "nodes/runtime/event_plane.h"
#include "nodes/runtime/loop.h"
#include "nodes/runtime/places.h"
#include "nodes/runtime/setup.h"
#include "nodes/runtime/workers.h"
#include "transport/transport.h"

namespace headrace::runtime {

class Runtime final : public std::enable_shared_from_this<Runtime> {
 public:
  static Result<std::shared_ptr<Runtime>> open(NodeOptions options, InternalOptions internal);
  explicit Runtime(Setup setup);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  Result<void> close(Millis drain);
  void stop();
  Result<void> run();

  const Setup& setup() const { return setup_; }
  Board& board() { return board_; }
  EventPlane& plane() { return *plane_; }

  Result<std::vector<JobId>> add(std::vector<job::NewJob> jobs, Millis timeout, Level& level);
  Result<void> add_async(job::NewJob job, std::function<void(Result<JobHandle>)> done);
  Result<JobInfo> get(const JobId& id, Millis timeout);
  Result<std::vector<JobInfo>> find(JobFilter filter, Millis timeout);
  // The job when it has ended. No timeout: for ever.
  Result<JobInfo> wait(const JobId& id, std::optional<Millis> timeout);

  Result<std::shared_ptr<ConsumerHandle>> consume(job::ConsumerConfig config, Handler handler);
  void stop_consumer(std::uint64_t key);

 private:
  Result<void> bring_up();
  Result<Incarnation> make_identity_and_name(Storage* storage);
  Result<void> open_sockets();
  void make_plane(Incarnation incarnation);
  Result<void> start_threads(std::unique_ptr<Storage> storage, Incarnation incarnation);
  void note(const std::string& text) const;
  bool in_callback() const { return callbacks_.on_worker() || jobs_.on_worker(); }
  void wind_down(MonoTime drained_by);
  Result<Answer> ask(std::size_t bytes, bool adds, MonoTime deadline, BeginCall begin);
  Result<JobInfo> ask_info(MonoTime deadline, BeginCall begin);

  Setup setup_;
  const pid_t pid_;
  Board board_;
  Places places_;
  Workers callbacks_;
  Workers::Reservation callback_threads_;
  Workers jobs_;
  DoneQueue done_;
  std::optional<transport::Transport> transport_;
  std::unique_ptr<EventPlane> plane_;
  std::unique_ptr<Loop> loop_;  // uses all of the above

  std::atomic<std::uint64_t> last_consumer_{0};
  std::mutex close_mutex_;
  bool closed_ = false;  // guarded by close_mutex_
  int stop_fd_ = -1;
  std::shared_ptr<Runtime> immortal_;  // in a child made by fork
};

// What a Consumer holds. `kept` and `stopped` by its one owner.
struct ConsumerHandle {
  std::weak_ptr<Runtime> runtime;
  std::uint64_t key = 0;
  bool kept = false;
  bool stopped = false;

  void stop();
};

struct RegistrationHandle {
  std::weak_ptr<Runtime> runtime;
  RegistrationId id = 0;
  bool kept = false;
};

// Checks a job and encodes its parameters, on the caller's thread. kInvalid.
Result<job::NewJob> to_new_job(JobSpec spec);
std::size_t bytes_of(const job::NewJob& job);

}  // namespace headrace::runtime
