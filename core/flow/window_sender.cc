#include "core/flow/window_sender.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/flow/period.h"

namespace headrace {

wire::ItemHead WindowSender::take_item(std::uint64_t token) {
  HEADRACE_CHECK(credit() > 0);
  ++used_;
  if (want_ > 0) --want_;
  flights_.push_back({session_, sent()}, token);
  return {announcement(false)};
}

void WindowSender::set_want(std::uint64_t items) {
  want_ = std::min<std::uint64_t>(items, limits::kHighWaterMark);
}

void WindowSender::on_state(const wire::WindowState& state, std::vector<std::uint64_t>& tokens) {
  if (state.sender != self_) return;
  on_heard();
  if (state.session < session_) return;
  if (state.session > session_) {
    session_ = state.session;
    limit_ = used_ = burned_ = passed_ = heard_burned_ = ask_ = 0;
    behind_ = 0;
  }
  if (state.passed > sent() || state.burned > burned_) return;  // no honest receiver counts more
  const auto most = used_ + limits::kHighWaterMark;
  limit_ = std::max(limit_, std::min(state.limit, most));
  if (state.passed > passed_) {
    passed_ = state.passed;
    behind_ = 0;
  }
  heard_burned_ = std::max(heard_burned_, state.burned);
  if (state.full) hand_back(state, tokens);
  ask_ = state.ask;
  announce_due_ |= state.echo || state.ask > 0;
  mark_due_ |= state.prove;
}

// An item of an older session, or one that has passed, ended unrun unless the receiver lists it.
// True once, it stays true: so lists may be lost, repeated or reordered.
void WindowSender::hand_back(const wire::WindowState& state, std::vector<std::uint64_t>& tokens) {
  flights_.remove_if([&](const wire::ItemId& id, std::uint64_t token) {
    const bool over = id.session < state.session || id.n <= state.passed;
    const bool this_life = id.session.receiver == state.session.receiver;
    if (!over || (this_life && wire::lists(state.held, id))) return false;
    tokens.push_back(token);
    return true;
  });
}

std::vector<wire::HeldRun> WindowSender::over(const wire::WindowState& state) {
  std::vector<wire::HeldRun> over;
  if (!took_back_ || !state.full || state.sender != self_ || state.session != session_) return over;
  for (const auto& run : state.held) {
    for (auto n = run.first; n < run.first + run.count; ++n) {
      if (flies({{state.session.receiver, run.counter}, n})) continue;
      const bool next = !over.empty() && over.back().counter == run.counter &&
                        over.back().first + over.back().count == n;
      if (next) {
        ++over.back().count;
      } else {
        over.push_back({run.counter, n, 1});
      }
    }
  }
  took_back_ = !over.empty();
  return over;
}

void WindowSender::on_heard() {
  silent_ = 0;
  away_ = false;
}

std::optional<std::uint64_t> WindowSender::end_flight(const wire::ItemId& item) {
  return flights_.take(item);
}

void WindowSender::on_dead(std::vector<std::uint64_t>& returned) {
  flights_.for_each([&](const wire::ItemId&, std::uint64_t token) { returned.push_back(token); });
  flights_ = {};
  took_back_ = true;
  away_ = true;
}

void WindowSender::on_alive() {
  if (want_ > 0) announce_due_ = query_due_ = true;
  on_heard();
}

void WindowSender::on_period() {
  if (away_) return;
  ++silent_;
  const bool waiting = !flights_.empty() || starved();
  const bool unheard = heard_burned_ < burned_;
  if ((waiting && silent_ >= kPatience) || unheard) announce_due_ = query_due_ = true;
  behind_ = sent() > passed_ ? behind_ + 1 : 0;
  if (behind_ >= kPatience) mark_due_ = true;
}

bool WindowSender::period_needed() const {
  return !away_ && (!flights_.empty() || starved() || heard_burned_ < burned_ || sent() > passed_);
}

WindowSender::Outgoing WindowSender::collect() {
  Outgoing out;
  if (away_) return out;
  if (ask_ > burned_) {
    const auto burn = std::min(ask_ - burned_, limit_ - used_);
    used_ += burn;
    burned_ += burn;
  }
  ask_ = 0;
  if (starved() && told_want_ == 0) announce_due_ = true;
  if (announce_due_) out.announce = announcement(query_due_);
  if (mark_due_) out.mark = wire::Mark{announcement(false)};
  announce_due_ = query_due_ = mark_due_ = false;
  return out;
}

wire::Announce WindowSender::announcement(bool query) {
  told_want_ = want_;
  return {++number_, session_, limit_, used_, burned_, want_, query};
}

}  // namespace headrace
