#include "nodes/runtime/loop.h"

#include <algorithm>
#include <utility>

#include "nodes/runtime/clock.h"
#include "nodes/runtime/interrupt.h"
#include "nodes/runtime/thread.h"

namespace headrace::runtime {

namespace {

constexpr Millis kHeldUp{500};         // later than that it was not the others who were silent
constexpr unsigned kTicksPutOff = 20;  // turns for which a flood of frames may delay the timers
constexpr Millis kConditionEvery{10};  // conditions may depend on other threads

}  // namespace

Loop::Loop(LoopParts parts)
    : parts_(std::move(parts)),
      gate_(parts_.plane),
      inbox_([this] { parts_.transport.wake(); }),
      discovery_(discovery_options(), discovery_hooks(), new_seed()),
      runs_(parts_.workers,
            [this](JobEnded ended, bool urgent) { inbox_.push(std::move(ended), urgent); }),
      calls_(parts_.done) {}

Loop::~Loop() { join(Millis{0}); }

Result<void> Loop::open(std::unique_ptr<Storage> storage, Incarnation incarnation) {
  storage_ = std::move(storage);
  now_ = now();
  return begin_life(incarnation);
}

Result<void> Loop::start() {
  auto thread = start_thread("hr-loop", [this] { run(); });
  if (!thread) return fail(thread.error());
  thread_ = std::move(*thread);
  return {};
}

bool Loop::call(Waiter waiter, BeginCall begin) {
  return inbox_.push(Call{std::move(waiter), std::move(begin)});
}

bool Loop::post(Task task) { return inbox_.push(Item(std::move(task))); }

bool Loop::wait_until(std::function<bool(Loop&)> condition, MonoTime deadline) {
  auto answer = std::make_shared<std::promise<bool>>();
  auto held = answer->get_future();
  return inbox_.push(Condition{std::move(condition), deadline, std::move(answer)}) &&
         wait_for(held) && held.get();
}

void Loop::join(Millis flush) {
  if (!thread_.joinable()) return;
  post([flush](Loop& loop) {
    loop.ending_ = true;
    loop.last_flush_ = flush;
  });
  thread_.join();
}

void Loop::run() {
  now_ = now();
  discovery_.start(now_.mono);
  while (!ending_) turn();
  finish();
}

void Loop::turn() {
  slept_at_ = mono_now();
  if (peer_ && slept_at_ - now_.mono > kHeldUp) peer_->held_up(now_, slept_at_ - now_.mono);
  const bool rest = !std::exchange(again_, false) && inbox_.sleep();
  const bool asleep = parts_.plane.before_sleep() && rest;
  due_ = asleep ? std::max(next_deadline(), slept_at_) : slept_at_;
  awake_ = false;
  parts_.transport.watch(discovery_.fds());
  const auto turn =
      parts_.transport.poll(due_ == kNever ? std::chrono::hours(1) : due_ - slept_at_, *this);
  parts_.plane.after_sleep();
  woke_up();
  if (turn.more) again_ = true;
  take_own_frames();
  take_inbox();
  if (!turn.more || ++ticks_put_off_ >= kTicksPutOff) tick();
  parts_.plane.flush(
      [this](const NodeId& to, Bytes& frame) { return !links_ || links_->emit(to, frame); },
      parts_.transport.take_spare());
  if (peer_) {
    if (storage_) peer_->set_room(storage_->store().room());
    carry_out(peer_->end_turn(now_));
  }
  flush();
  if (life_ends_) live_on();
  check_conditions();
}

MonoTime Loop::next_deadline() const {
  auto next = std::min({parts_.plane.next_timer(), open_again_at_, discovery_.next()});
  if (peer_) next = std::min({next, peer_->next_timer(now_), links_->next_sweep()});
  if (!conditions_.empty()) next = std::min(next, now_.mono + kConditionEvery);
  return next;
}

// The first thing after a wait: whoever is late himself blames nobody else.
void Loop::woke_up() {
  if (std::exchange(awake_, true)) return;
  now_ = now();
  if (peer_ && now_.mono > due_ && now_.mono - due_ > kHeldUp)
    peer_->held_up(now_, now_.mono - due_);
}

void Loop::on_frame(wire::Lane lane, const transport::RoutingId& from, transport::Frame frame) {
  woke_up();
  if (!peer_) return;
  const auto hold = std::make_shared<const transport::Frame>(std::move(frame));
  const auto client = from.is_client() ? from.raw() : BytesView{};
  peer_->on_frame(now_, lane, client, hold->bytes(), hold);
}

void Loop::on_room(transport::LinkId link, wire::Lane lane) {
  woke_up();
  if (!links_) return;
  if (const auto node = links_->on_room(link, lane)) parts_.plane.on_room(*node);
}

void Loop::on_ended(const NodeId& node) {
  woke_up();
  const auto* endpoint = links_ ? links_->endpoint_of(node) : nullptr;
  if (endpoint != nullptr) discovery_.ended(node, *endpoint, now_.mono);
}

// What this node said to itself in the last turn.
void Loop::take_own_frames() {
  for (const auto lane : {wire::Lane::kControl, wire::Lane::kData}) {
    auto& mail = own_mail_[static_cast<std::size_t>(lane)];
    if (!peer_ || !mail || mail->empty()) continue;
    std::vector<std::shared_ptr<const Bytes>> frames;
    while (!mail->empty()) frames.push_back(std::make_shared<const Bytes>(mail->take()));
    for (const auto& frame : frames) peer_->on_frame(now_, lane, {}, *frame, frame);
  }
}

void Loop::take_inbox() {
  inbox_.take(items_);
  for (auto& item : items_) {
    std::visit([this](auto& what) { take(what); }, item);
  }
  items_.clear();
}

void Loop::take(Call& call) {
  if (!peer_) return calls_.answer(std::move(call.waiter), fail(down_));
  call.begin(*peer_, now_, calls_.open(std::move(call.waiter)));
}

void Loop::take(JobEnded& ended) {
  if (peer_) runs_.ended(now_, *peer_, std::move(ended));
}

void Loop::take(Committed& committed) {
  if (committed.era != era_ || !peer_) return;
  if (committed.report.failed) {
    life_ends_ = std::move(committed.report.failed);
    return;
  }
  written_ = committed.report.written;
  peer_->on_commit(now_, written_, committed.report.synced);
  submit_reads();
}

void Loop::take(ReadDone& done) {
  if (done.era != era_ || !peer_) return;
  for (const auto& continuation : done.continuations) peer_->on_read(now_, continuation);
}

void Loop::take(StoreFailed& failed) {
  if (failed.era == era_ && peer_) life_ends_ = std::move(failed.error);
}

void Loop::tick() {
  ticks_put_off_ = 0;
  if (!peer_ && now_.mono >= open_again_at_) live_on();
  if (peer_ && now_.mono >= peer_->next_timer(now_)) peer_->tick(now_);
  if (now_.mono >= parts_.plane.next_timer()) parts_.plane.tick(now_.mono);
  if (links_) links_->sweep(now_.mono);
  discovery_.tick(now_.mono, peer_ ? peer_->live_members() : 1);
  note_starvation();
}

void Loop::note_starvation() {
  const auto starved = parts_.transport.stats().starved;
  if (starved_ == 0 && starved > 0) {
    parts_.note(
        "descriptors run out: connections that are used least make room for others; "
        "raise the limit of open files (ulimit -n)");
  }
  starved_ = starved;
}

void Loop::check_conditions() {
  std::erase_if(conditions_, [this](const Condition& condition) {
    const bool holds = condition.holds(*this);
    if (!holds && now_.mono < condition.deadline) return false;
    condition.answer->set_value(holds);
    return true;
  });
}

void Loop::finish() {
  const Error closed{Code::kClosed, "the node is closed"};
  inbox_.close();
  inbox_.take(items_);
  for (auto& item : items_) {
    if (auto* call = std::get_if<Call>(&item)) calls_.answer(std::move(call->waiter), fail(closed));
    if (auto* condition = std::get_if<Condition>(&item)) take(*condition);
  }
  for (auto& condition : conditions_) condition.answer->set_value(false);
  if (peer_) {
    for (auto& answer : peer_->abandon(closed))
      calls_.answer(answer.call, std::move(answer.answer));
  }
  calls_.answer_all(closed);
  calls_.flush();
  discovery_.stop();
  parts_.transport.close(last_flush_);
  clients_.reset();
  peer_.reset();
  links_.reset();
  storage_.reset();
}

// --- For tasks.

void Loop::add_consumer(std::shared_ptr<const ConsumerEntry> consumer) {
  runs_.add(now_, peer_.get(), std::move(consumer));
}

void Loop::stop_consumer(std::uint64_t key) { runs_.stop(now_, peer_.get(), key); }

void Loop::stop_consuming() {
  consuming_ = false;
  if (peer_) runs_.stop_consuming(now_, *peer_);
}

void Loop::stop_running() { runs_.stop_all(); }

void Loop::leave() {
  discovery_.stop();
  if (peer_) peer_->leave(now_);
}

bool Loop::jobs_idle() const {
  return !peer_ || (runs_.idle() && peer_->idle() && calls_.adds() == 0);
}

void Loop::registrations_changed(Bytes registrations) {
  registrations_ = std::move(registrations);
  if (peer_) peer_->set_registrations(now_, registrations_);
}

void Loop::send_event_control(const NodeId& to, Bytes message) {
  if (peer_) peer_->send_event_control(to, std::move(message));
}

}  // namespace headrace::runtime
