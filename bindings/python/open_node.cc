#include "bindings/python/open_node.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "bindings/python/errors.h"
#include "nodes/runtime/interrupt.h"
#include "nodes/runtime/signals.h"
#include "nodes/runtime/thread.h"

namespace headrace::python {

namespace {

constexpr Millis kExitPatience{5'000};  // for callbacks that still run at the interpreter's end

// Never destroyed, as threads may outlive main(). Guarded by the GIL.
std::set<OpenNode*>& open_nodes() {
  static auto* const nodes = new std::set<OpenNode*>;
  return *nodes;
}

// A call that goes on on a thread of its own if its caller is interrupted.
template <typename T>
struct Background {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<Result<T>> result;

  template <typename Task = Background, typename Call>
  static std::shared_ptr<Task> start(Call call) {
    auto task = std::make_shared<Task>();
    auto thread = runtime::start_thread("hr-python", [task, call] {
      auto result = call();
      const std::lock_guard lock(task->mutex);
      task->result = std::move(result);
      task->done.notify_all();
    });
    if (thread) {
      thread->detach();
    } else {
      task->result = fail(thread.error());
    }
    return task;
  }
  // False: not in time, or interrupted.
  bool wait(MonoTime deadline) {
    std::unique_lock lock(mutex);
    return runtime::wait_until(done, lock, deadline, [this] { return result.has_value(); });
  }
};

void wait_readable(int fd, int other) {
  std::array<pollfd, 2> wait{pollfd{fd, POLLIN, 0}, pollfd{other, POLLIN, 0}};
  const int slice = static_cast<int>(runtime::kInterruptLook.count());
  for (;;) {
    const int ready = ::poll(wait.data(), wait.size(), slice);
    if (ready > 0 || runtime::interrupted()) return;
    if (ready < 0 && errno != EINTR) return;
  }
}

}  // namespace

struct Closing : Background<void> {};

std::shared_ptr<OpenNode> OpenNode::open(NodeOptions options) {
  auto task =
      Background<Node>::start([options = std::move(options)] { return Node::open(options); });
  {
    const GilRelease release;
    task->wait(kNever);
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return std::shared_ptr<OpenNode>(new OpenNode(take(*std::move(task->result))));
}

OpenNode::OpenNode(Node node)
    : forks_(forks()),
      node_(std::make_shared<Node>(std::move(node))),
      id_(node_->id().hex()),
      name_(node_->name()),
      endpoint_(node_->endpoint()),
      stop_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  open_nodes().insert(this);
}

OpenNode::~OpenNode() {
  open_nodes().erase(this);
  if (forks_ != forks()) {
    new std::shared_ptr<Node>(std::move(node_));  // the parent's; never freed here
    return;
  }
  if (!closing_) start_closing(Millis{0});
  if (stop_fd_ >= 0) ::close(stop_fd_);
  node_.reset();
  if (on_worker()) return;
  {
    const GilRelease release;
    closing_->wait(kNever);
  }
  if (PyErr_Occurred() == nullptr) return;
  // Nothing can be raised here: let the next place that can do so.
  PyErr_Clear();
  PyErr_SetInterrupt();
}

Node& OpenNode::get() {
  if (forks_ != forks()) raise_forked();
  return *node_;
}

// On a thread of its own, since it may wait for a handler that never ends, and Ctrl-C must be heard
// meanwhile. It keeps the node until then.
void OpenNode::start_closing(Millis drain) {
  closing_ = Closing::start<Closing>([node = node_, drain] { return node->close(drain); });
}

std::shared_ptr<Kept> OpenNode::keep(PyObject* function) {
  drop_kept();
  if (callbacks_.size() >= look_over_) {
    std::erase_if(callbacks_, [](const auto& callback) { return callback.expired(); });
    look_over_ = 64 + 2 * callbacks_.size();
  }
  auto kept = std::make_shared<Kept>(function);
  callbacks_.push_back(kept);
  return kept;
}

void OpenNode::forget_callbacks() {
  for (const auto& callback : std::exchange(callbacks_, {})) {
    if (const auto kept = callback.lock()) kept->clear();
  }
  drop_kept();
}

void OpenNode::close(Millis drain) {
  if (forks_ != forks()) return;
  if (on_worker()) {
    raise_invalid("a callback cannot close a node, which would wait for it; call stop()");
  }
  stop();
  if (!closing_) start_closing(drain);
  const auto closing = closing_;
  {
    const GilRelease release;
    closing->wait(kNever);
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  forget_callbacks();
  take(*closing->result);
}

void OpenNode::run() {
  if (forks_ != forks()) raise_forked();
  if (on_worker()) raise_invalid("a callback cannot run a node, which runs already");
  if (closing_) raise({Code::kClosed, "the node is closed"});
  const auto signals = take(runtime::SignalWatch::start());
  {
    const GilRelease release;
    wait_readable(stop_fd_, signals.fd());
  }
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw py::error_already_set();
  PyErr_Clear();
}

void OpenNode::stop() {
  if (forks_ != forks()) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stop_fd_, &one, sizeof one));
}

void OpenNode::close_all() {
  std::set<std::pair<std::string, std::shared_ptr<Closing>>> closings;
  for (auto* node : open_nodes()) {
    if (node->forks_ != forks()) continue;
    node->stop();
    if (!node->closing_) node->start_closing(Millis{0});
    closings.emplace(node->name_, node->closing_);
  }
  const auto deadline = runtime::deadline_after(runtime::mono_now(), kExitPatience);
  std::set<std::string> left;
  {
    const GilRelease release;
    for (const auto& [name, closing] : closings) {
      if (!closing->wait(deadline)) left.insert(name);
    }
  }
  PyErr_Clear();  // a second Ctrl-C: leave at once
  drop_kept();
  begin_exit();
  for (const auto& name : left) {
    std::fprintf(stderr, "headrace: a callback of node %s still runs; it is left behind\n",
                 name.c_str());
  }
}

}  // namespace headrace::python
