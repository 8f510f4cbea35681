#include "core/flow/window_receiver.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/flow/period.h"

namespace headrace {

// ---- mail

Arrival WindowReceiver::on_item(const SenderKey& from, Incarnation life,
                                const wire::ItemHead& head) {
  Sender* sender = hear(from, life);
  if (sender == nullptr) return Arrival::kDropped;
  const auto id = head.id();
  const bool current = id.session == sender->account.session;
  if (current && !credible(sender->account, head.announce, id.n)) return Arrival::kDropped;
  learn(*sender, head.announce);
  if (current && id.n <= sender->account.passed) return Arrival::kDropped;
  if (current) pass(*sender, id.n, true);
  const bool room = occupancy_ < high();
  if (!current || !room) {
    answer(*sender);  // the list of what is held, without this item, is the refusal
    return Arrival::kRefused;
  }
  sender->items.push_back(id, Stage::kWaiting);
  ++sender->held;
  ++occupancy_;
  return Arrival::kTaken;
}

void WindowReceiver::on_mark(const SenderKey& from, Incarnation life, const wire::Mark& mark) {
  Sender* sender = hear(from, life);
  if (sender == nullptr) return;
  Account& account = sender->account;
  const bool current = mark.announce.session == account.session;
  if (current && !credible(account, mark.announce, mark.last())) return;
  learn(*sender, mark.announce);
  if (current) {
    account.probe = false;
    if (mark.last() > account.passed) pass(*sender, mark.last(), false);
    recount(*sender);
  }
  answer(*sender);
}

void WindowReceiver::on_announce(const SenderKey& from, Incarnation life,
                                 const wire::Announce& announce) {
  Sender* sender = hear(from, life);
  if (sender == nullptr) return;
  learn(*sender, announce);
  if (announce.query) answer(*sender);
}

void WindowReceiver::on_acknowledged(const SenderKey& from, Incarnation life,
                                     const wire::ItemId& item) {
  Sender* sender = hear(from, life);
  if (sender == nullptr) return;
  const Stage* stage = sender->items.find(item);
  if (stage == nullptr || *stage != Stage::kFinished) return;
  sender->items.take(item);
  --sender->finished;
  --finished_;
}

WindowReceiver::Sender* WindowReceiver::find(const SenderKey& key) {
  const auto at = senders_.find(key);
  return at == senders_.end() ? nullptr : &at->second;
}

WindowReceiver::Sender* WindowReceiver::hear(const SenderKey& from, Incarnation life) {
  Sender* sender = find(from);
  if (sender == nullptr) {
    if (senders_.size() >= limits::kWindowSenders) return nullptr;
    sender = &senders_[from];
  }
  if (life < sender->life) return nullptr;
  changed();
  sender->forgotten = false;
  if (life > sender->life) begin_life(from, *sender, life);
  if (!sender->account.session.exists()) open(*sender);
  sender->account.silent = false;
  sender->account.unanswered = 0;
  recount(*sender);
  return sender;
}

// The highest number wins: a late announcement says nothing new.
void WindowReceiver::learn(Sender& sender, const wire::Announce& announce) {
  if (announce.number <= sender.number) return;
  Account& account = sender.account;
  const bool current = announce.session == account.session;
  if (current && !credible(account, announce, account.passed)) return;
  sender.number = announce.number;
  sender.want = std::min<std::uint64_t>(announce.want, limits::kHighWaterMark);
  if (current) {
    account.used = announce.used;
    account.burned = announce.burned;
    account.seen_limit = announce.limit;
    account.met = true;
  } else {
    answer(sender);
  }
  recount(sender);
}

// Could an honest sender have announced this, and sent `n` items?
bool WindowReceiver::credible(const Account& account, const wire::Announce& announce,
                              std::uint64_t n) {
  const auto burned = std::max(account.burned, announce.burned);
  return announce.limit <= account.limit && announce.used <= announce.limit &&
         n + burned <= account.limit;
}

// Everything up to n is over for the window: it arrived or is lost.
void WindowReceiver::pass(Sender& sender, std::uint64_t n, bool arrived) {
  const bool lost = n - sender.account.passed > (arrived ? 1u : 0u);
  if (lost) answer(sender);
  sender.account.passed = n;
  recount(sender);
}

void WindowReceiver::answer(Sender& sender) { sender.due = sender.full = true; }

void WindowReceiver::open(Sender& sender) {
  sender.account = {};
  sender.account.session = {self_, ++sessions_};
  answer(sender);
  recount(sender);
}

// ---- what becomes of items

bool WindowReceiver::on_started(const SenderKey& from, const wire::ItemId& item) {
  Sender* sender = find(from);
  Stage* stage = sender == nullptr ? nullptr : sender->items.find(item);
  if (stage == nullptr || *stage != Stage::kWaiting) return false;
  *stage = Stage::kStarted;
  return true;
}

bool WindowReceiver::on_ended(const SenderKey& from, const wire::ItemId& item) {
  Sender* sender = find(from);
  Stage* stage = sender == nullptr ? nullptr : sender->items.find(item);
  if (stage == nullptr || *stage == Stage::kFinished) return false;
  changed();
  --sender->held;
  --occupancy_;
  if (*stage == Stage::kOrphan) {
    sender->items.take(item);
    forget_if_empty(from, *sender);
    return false;
  }
  *stage = Stage::kFinished;
  ++sender->finished;
  ++finished_;
  return true;
}

bool WindowReceiver::hand_back(const SenderKey& from, const wire::ItemId& item) {
  Sender* sender = find(from);
  const Stage* stage = sender == nullptr ? nullptr : sender->items.find(item);
  if (stage == nullptr || *stage == Stage::kFinished) return false;
  if (*stage == Stage::kOrphan) return on_ended(from, item);
  changed();
  sender->items.take(item);
  --sender->held;
  --occupancy_;
  answer(*sender);
  return true;
}

bool WindowReceiver::on_over(const SenderKey& from, const wire::ItemId& item) {
  Sender* sender = find(from);
  Stage* stage = sender == nullptr ? nullptr : sender->items.find(item);
  if (stage == nullptr || *stage == Stage::kFinished) return false;
  if (*stage == Stage::kWaiting) return hand_back(from, item);
  changed();
  *stage = Stage::kOrphan;
  answer(*sender);
  return true;
}

bool WindowReceiver::lists(const SenderKey& sender, const wire::ItemId& item) const {
  const auto at = senders_.find(sender);
  if (at == senders_.end()) return false;
  const Stage* stage = at->second.items.find(item);
  return stage != nullptr && *stage != Stage::kOrphan;
}

// ---- what becomes of senders

void WindowReceiver::on_dead(const NodeId& node) {
  for (auto at = senders_.lower_bound({node, {}}); at != senders_.end() && at->first.node == node;
       ++at) {
    Sender& sender = at->second;
    if (!sender.account.session.exists()) continue;
    changed();
    drop_waiting(at->first, sender);
    sender.account = {};
    sender.want = 0;
    sender.due = sender.full = sender.echo = false;
    recount(sender);
  }
}

void WindowReceiver::on_incarnation(const NodeId& node, Incarnation life) {
  for (auto at = senders_.lower_bound({node, {}}); at != senders_.end() && at->first.node == node;
       ++at) {
    if (life > at->second.life) begin_life(at->first, at->second, life);
  }
}

void WindowReceiver::forget(const NodeId& node) {
  for (auto at = senders_.lower_bound({node, {}});
       at != senders_.end() && at->first.node == node;) {
    const auto here = at++;
    begin_life(here->first, here->second, here->second.life);
    here->second.forgotten = true;
    forget_if_empty(here->first, here->second);
  }
}

// The tokens of the sender's earlier life are void: what has not started never will, and nobody
// waits for the rest.
void WindowReceiver::begin_life(const SenderKey& key, Sender& sender, Incarnation life) {
  changed();
  drop_waiting(key, sender);
  sender.items.remove_if([](const wire::ItemId&, Stage& stage) {
    if (stage == Stage::kFinished) return true;
    stage = Stage::kOrphan;
    return false;
  });
  finished_ -= std::exchange(sender.finished, 0);
  sender.account = {};
  sender.life = life;
  sender.number = sender.want = 0;
  sender.due = sender.full = sender.echo = false;
  recount(sender);
}

void WindowReceiver::drop_waiting(const SenderKey& key, Sender& sender) {
  sender.items.remove_if([&](const wire::ItemId& id, Stage& stage) {
    if (stage != Stage::kWaiting) return false;
    dropped_.push_back({key, id});
    --sender.held;
    --occupancy_;
    return true;
  });
}

void WindowReceiver::forget_if_empty(const SenderKey& key, const Sender& sender) {
  if (sender.forgotten && sender.items.empty()) senders_.erase(senders_.find(key));
}

// ---- settings

void WindowReceiver::set_marks(Marks marks) {
  HEADRACE_CHECK(marks.low < marks.high && marks.high <= limits::kHighWaterMark);
  if (marks == marks_) return;
  marks_ = marks;
  changed();
}

void WindowReceiver::set_weight(const SenderKey& sender, std::uint64_t weight) {
  HEADRACE_CHECK(weight >= 1 && weight <= limits::kWindowWeight);
  if (find(sender) != nullptr || senders_.size() < limits::kWindowSenders)
    senders_[sender].weight = weight;
}

void WindowReceiver::stop() {
  stopped_ = true;
  changed();
  for (auto& [key, sender] : senders_) recount(sender);
}

// ---- states

void WindowReceiver::collect(std::vector<Outgoing>& states, std::vector<Dropped>& dropped) {
  if (!std::exchange(changed_, false)) return;
  refill(false);
  for (auto& [key, sender] : senders_) {
    if (!sender.due || !sender.account.session.exists()) continue;
    states.push_back({key, state_of(sender)});
    sender.due = sender.full = sender.echo = false;
  }
  dropped.insert(dropped.end(), dropped_.begin(), dropped_.end());
  dropped_.clear();
}

wire::WindowState WindowReceiver::state_of(const Sender& sender) const {
  const Account& account = sender.account;
  wire::WindowState state;
  state.session = account.session;
  state.sender = sender.life;
  state.limit = account.limit;
  state.passed = account.passed;
  state.burned = account.burned;
  state.ask = account.ask;
  state.echo = sender.echo;
  state.prove = account.probe;
  state.full = sender.full;
  if (!sender.full) return state;
  sender.items.for_each([&](const wire::ItemId& id, Stage stage) {
    if (stage == Stage::kOrphan) return;
    const auto counter = id.session.counter;
    if (!state.held.empty()) {
      auto& run = state.held.back();
      if (run.counter == counter && run.first + run.count == id.n) {
        ++run.count;
        return;
      }
    }
    state.held.push_back({counter, id.n, 1});
  });
  return state;
}

WindowReceiver::View WindowReceiver::view(const SenderKey& key) const {
  const auto at = senders_.find(key);
  if (at == senders_.end()) return {};
  const Sender& sender = at->second;
  const Account& account = sender.account;
  return {account.session, sender.life, account.limit, account.passed, account.burned,
          sender.want,     account.ask, sender.held,   sender.finished};
}

}  // namespace headrace
