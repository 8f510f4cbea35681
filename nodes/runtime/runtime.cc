#include "nodes/runtime/runtime.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/base/limits.h"
#include "nodes/runtime/clock.h"
#include "nodes/runtime/incarnation.h"
#include "nodes/runtime/interrupt.h"
#include "nodes/runtime/name.h"
#include "nodes/runtime/signals.h"
#include "transport/file_limit.h"

namespace headrace::runtime {

namespace {

constexpr Millis kLinger{200};         // for what was said last
constexpr Millis kFlushWithin{5'000};  // of a disk that answers at all

}  // namespace

Runtime::Runtime(Setup setup)
    : setup_(std::move(setup)),
      pid_(::getpid()),
      places_(limits::kPendingCalls, limits::kPendingCallBytes),
      callbacks_(1),
      jobs_(1 + setup_.internal.callback_threads),
      done_(callbacks_, places_, [this](const std::string& text) { note(text); }) {}

Result<std::shared_ptr<Runtime>> Runtime::open(NodeOptions options, InternalOptions internal) {
  auto setup = make_setup(std::move(options), std::move(internal));
  if (!setup) return fail(setup.error());
  transport::raise_file_limit();
  auto runtime = std::make_shared<Runtime>(std::move(*setup));
  if (auto up = runtime->bring_up(); !up) return fail(up.error());
  return runtime;
}

Result<void> Runtime::bring_up() {
  std::unique_ptr<Storage> storage;
  if (setup_.keeps()) {
    auto opened = Storage::open(setup_.options.data, setup_.internal.store);
    if (!opened) return fail(opened.error());
    storage = std::move(*opened);
  }
  const auto incarnation = make_identity_and_name(storage.get());
  if (!incarnation) return fail(incarnation.error());
  if (auto bound = open_sockets(); !bound) return bound;
  stop_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_fd_ < 0)
    return fail(Code::kFull, "no descriptors are left: raise the limit (ulimit -n)");
  make_plane(*incarnation);
  return start_threads(std::move(storage), *incarnation);
}

Result<Incarnation> Runtime::make_identity_and_name(Storage* storage) {
  auto identity = storage != nullptr ? keep_identity(setup_.options.data) : make_identity();
  if (!identity) return fail(identity.error());
  setup_.identity = std::move(*identity);
  if (setup_.options.name.empty()) setup_.options.name = name_of(setup_.identity.id);
  if (storage == nullptr) return begin_incarnation(wall_now());
  return begin_incarnation(storage->store(), wall_now());
}

Result<void> Runtime::open_sockets() {
  auto transport = transport::Transport::open(
      {.node = setup_.identity.id, .listen = setup_.listen, .traffic = setup_.internal.traffic});
  if (!transport) return fail(transport.error());
  transport_.emplace(std::move(*transport));
  setup_.control = reachable(transport_->control_endpoint()).text();
  setup_.data = reachable(transport_->data_endpoint()).text();
  return {};
}

void Runtime::make_plane(Incarnation incarnation) {
  EventPlaneHooks hooks;
  hooks.mono = mono_now;
  hooks.wall = wall_now;
  hooks.wake = [this] { transport_->wake(); };
  hooks.schedule = [this](RegistrationId id) { callbacks_.push([this, id] { plane_->run(id); }); };
  hooks.note = [this](const std::string& text) { note(text); };
  hooks.send_control = [this](const NodeId& to, Bytes message) {
    loop_->send_event_control(to, std::move(message));
  };
  hooks.registrations_changed = [this](Bytes registrations) {
    loop_->registrations_changed(std::move(registrations));
  };
  plane_ = std::make_unique<EventPlane>(
      EventPlaneConfig{setup_.identity.id, incarnation, setup_.cluster}, std::move(hooks));
}

Result<void> Runtime::start_threads(std::unique_ptr<Storage> storage, Incarnation incarnation) {
  loop_ = std::make_unique<Loop>(LoopParts{setup_, *transport_, *plane_, jobs_, done_, board_,
                                           [this](const std::string& text) { note(text); }});
  if (auto opened = loop_->open(std::move(storage), incarnation); !opened) return opened;
  auto threads = callbacks_.reserve(setup_.internal.callback_threads);
  if (!threads) return fail(threads.error());
  callback_threads_ = std::move(*threads);
  return loop_->start();
}

void Runtime::note(const std::string& text) const {
  if (setup_.internal.note) return setup_.internal.note(text);
  if (std::getenv("HEADRACE_LOG") == nullptr) return;
  std::fprintf(stderr, "headrace %s: %s\n", setup_.options.name.c_str(), text.c_str());
}

Runtime::~Runtime() {
  static_cast<void>(close(Millis{0}));
  if (stop_fd_ >= 0) ::close(stop_fd_);
}

Result<void> Runtime::close(Millis drain) {
  if (pid_ != ::getpid()) {
    // A child made by fork has none of the threads. What is here is the parent's, and is never
    // ended in the child.
    immortal_ = shared_from_this();
    return {};
  }
  if (in_callback()) {
    return fail(Code::kInvalid,
                "a callback cannot close its node, which waits for it; call stop()");
  }
  const std::lock_guard lock(close_mutex_);
  if (std::exchange(closed_, true)) return {};
  const bool open = loop_ != nullptr && loop_->started();
  if (open) wind_down(deadline_after(mono_now(), drain));
  stop();
  board_.set_closed();
  places_.close();
  if (plane_) plane_->close();
  if (open) loop_->join(kLinger);
  // Handlers that are left find every call closed. Whoever returns now is not heard any more.
  jobs_.close();
  done_.wait_idle();
  callbacks_.close();
  return {};
}

// In this order: what began may end, then nothing begins, then what was done is written and said.
void Runtime::wind_down(MonoTime drained_by) {
  loop_->post([](Loop& loop) { loop.stop_consuming(); });
  loop_->wait_until([](Loop& loop) { return loop.jobs_idle(); }, drained_by);
  loop_->post([](Loop& loop) {
    loop.stop_running();
    loop.shut_events();
  });
  loop_->wait_until([this](Loop&) { return plane_->idle() && done_.idle(); }, drained_by);
  plane_->close();
  loop_->wait_until([](Loop& loop) { return loop.commits_idle(); }, mono_now() + kFlushWithin);
  loop_->post([](Loop& loop) { loop.leave(); });
  loop_->wait_until([](Loop& loop) { return loop.links_idle(); }, mono_now() + kLinger);
}

void Runtime::stop() {
  const std::uint64_t one = 1;
  if (stop_fd_ >= 0) static_cast<void>(!::write(stop_fd_, &one, sizeof one));
}

Result<void> Runtime::run() {
  if (in_callback()) {
    return fail(Code::kInvalid, "a callback cannot run its node, which runs already");
  }
  const auto signals = SignalWatch::start();
  if (!signals) return fail(signals.error());
  std::array<pollfd, 2> wait{pollfd{stop_fd_, POLLIN, 0}, pollfd{signals->fd(), POLLIN, 0}};
  const int patience = interrupt_check == nullptr ? -1 : static_cast<int>(kInterruptLook.count());
  for (;;) {
    const int ready = ::poll(wait.data(), wait.size(), patience);
    if (ready > 0 || interrupted()) return {};
    if (ready < 0 && errno != EINTR) return fail(Code::kInternal, "the wait failed");
  }
}

}  // namespace headrace::runtime
