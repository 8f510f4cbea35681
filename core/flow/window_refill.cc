// The part of WindowReceiver that decides who gets credit, who is asked to give some back, and when
// an account is closed on a sender that does not answer.
#include <algorithm>
#include <utility>

#include "core/flow/period.h"
#include "core/flow/window_receiver.h"

namespace headrace {

bool WindowReceiver::trusted(const Sender& sender) const {
  const Account& account = sender.account;
  return !stopped_ && account.session.exists() && !account.silent && !account.probe;
}

// Would it send more if it had more credit?
bool WindowReceiver::is_short(const Sender& sender) const {
  return trusted(sender) && sender.account.used + sender.want > sender.account.limit;
}

// The most that a sender may have held, finished and in reserve together: bounds the completions
// that wait for an owner who does not acknowledge.
std::uint64_t WindowReceiver::cap(const Sender& sender) const {
  const auto all = 2 * high();
  return all > sender.finished ? all - sender.finished : 0;
}

std::uint64_t WindowReceiver::places(const Sender& sender) {
  return sender.held + sender.account.reserve();
}

// Keeps the totals right after any change of the sender's account.
void WindowReceiver::recount(Sender& sender) {
  const auto reserve = sender.account.reserve();
  reserve_ += reserve - sender.counted_reserve;
  sender.counted_reserve = reserve;
  const bool now_short = is_short(sender);
  if (now_short && !sender.counted_short) ++short_;
  if (!now_short && sender.counted_short) --short_;
  sender.counted_short = now_short;
}

void WindowReceiver::refill(bool period) {
  const bool over = over_high();  // a mark was lowered
  if (!over && occupancy_ > low()) return;
  if (!over && short_ == 0 && !period && occupancy_ + reserve_ > low()) return;
  set_targets();
  auto room = over ? 0 : high() - occupancy_ - reserve_;
  if (room > 0) room = grant(room);
  bool unmet = over;
  for (const auto& [key, sender] : senders_) unmet |= places(sender) < sender.target;
  for (auto& [key, sender] : senders_) ask_back(sender, unmet);
  // Nobody is short: the rest is spread, so that an idle start costs no round trip.
  if (!unmet && room > 0) spread(room);
}

// The fair share of each sender of all places, over what it holds and could use.
void WindowReceiver::set_targets() {
  claims_.clear();
  claimants_.clear();
  for (auto& [key, sender] : senders_) {
    sender.target = sender.held;
    if (!trusted(sender)) continue;
    const auto demand = sender.held + sender.account.under_way() + sender.want;
    claims_.push_back(
        {sender.held, std::min(demand, cap(sender)), places(sender), sender.stamp, sender.weight});
    claimants_.push_back(&sender);
  }
  split(claims_, high() > occupancy_ ? high() - occupancy_ : 0);
  for (std::size_t i = 0; i < claims_.size(); ++i) claimants_[i]->target = claims_[i].level;
}

std::uint64_t WindowReceiver::grant(std::uint64_t room) {
  claims_.clear();
  claimants_.clear();
  for (auto& [key, sender] : senders_) {
    if (places(sender) >= sender.target) continue;
    claims_.push_back({places(sender), sender.target, 0, sender.stamp, sender.weight});
    claimants_.push_back(&sender);
  }
  return hand_out(room);
}

void WindowReceiver::spread(std::uint64_t room) {
  claims_.clear();
  claimants_.clear();
  for (auto& [key, sender] : senders_) {
    if (!trusted(sender) || cap(sender) <= places(sender)) continue;
    claims_.push_back(
        {sender.account.reserve(), cap(sender) - sender.held, 0, sender.stamp, sender.weight});
    claimants_.push_back(&sender);
  }
  hand_out(room);
}

// Raises the limits of the claimants as their claims are served; returns the room left over. Who
// was given something comes last at the next tie, in the order in which it was given.
std::uint64_t WindowReceiver::hand_out(std::uint64_t room) {
  const auto rest = split(claims_, room);
  order_.clear();
  for (std::size_t i = 0; i < claims_.size(); ++i)
    if (claims_[i].given > 0) order_.push_back(i);
  std::sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(claims_[a].won, claims_[a].stamp) <
           std::pair(claims_[b].won, claims_[b].stamp);
  });
  for (const auto i : order_) {
    Sender& sender = *claimants_[i];
    sender.stamp = ++clock_;
    sender.account.limit += claims_[i].given;
    sender.due = true;
    recount(sender);
  }
  return rest;
}

// What stands above its share is asked back, as far as it is not under way, while somebody stays
// short.
void WindowReceiver::ask_back(Sender& sender, bool unmet) {
  Account& account = sender.account;
  const auto idle = account.reserve() - std::min(account.reserve(), account.under_way());
  const auto above = places(sender) - std::min(places(sender), sender.target);
  const auto over = std::min(idle, above);
  if (!unmet || over == 0) {
    account.ask = 0;
    return;
  }
  if (account.burned + over > account.ask) sender.due = true;
  account.ask = account.burned + over;
}

// ---- periods

void WindowReceiver::on_period() {
  refill(true);
  bool reclaimed = false;
  for (auto& [key, sender] : senders_)
    if (sender.account.session.exists()) reclaimed |= reclaim(sender);
  if (reclaimed) refill(true);
  period_needed_ = false;
  for (auto& [key, sender] : senders_) {
    if (!sender.account.session.exists() || !anything_open(sender)) continue;
    answer(sender);
    sender.echo = true;
    period_needed_ = true;
  }
  changed_ = true;
}

// Opens a new session for a sender that was asked to burn and says nothing, or whose data lane
// carries nothing while another is short. Never for one that answers: its reserve is under way.
bool WindowReceiver::reclaim(Sender& sender) {
  Account& account = sender.account;
  const bool moving = account.passed != account.last_passed || account.under_way() == 0;
  account.stuck = moving ? 0 : account.stuck + 1;
  account.last_passed = account.passed;
  account.unanswered = account.ask > account.burned ? account.unanswered + 1 : 0;
  const bool other_short = short_ > (sender.counted_short ? 1u : 0u);
  const bool silent = account.unanswered > kPatience;
  const bool stalled = account.stuck > kLanePatience && other_short;
  if (!silent && !stalled) return false;
  open(sender);
  account.silent = silent;
  account.probe = !silent;
  recount(sender);
  return true;
}

bool WindowReceiver::anything_open(const Sender& sender) const {
  const Account& account = sender.account;
  // A consumer that leaves has nothing to say to a sender that holds nothing of it: that one may have
  // let go of the window already.
  if (stopped_ && account.reserve() == 0 && sender.held == 0 && sender.finished == 0) return false;
  return !account.met || account.seen_limit < account.limit || is_short(sender) ||
         (account.probe && sender.want > 0 && !stopped_) || account.ask > account.burned ||
         account.under_way() > 0 || sender.held > 0 || sender.finished > 0;
}

}  // namespace headrace
