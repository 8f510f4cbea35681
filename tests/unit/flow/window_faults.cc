// What happens to the nodes and lanes of a simulated world.
#include <algorithm>

#include "window_world.h"

namespace headrace::flow_test {

void World::start_faults(const Faults& faults) {
  faults_ = faults;
  faulty_ = true;
  post(now_ + 1, What::kFault, -1);
}

// Comes about each 10 ms.
void World::fault() {
  const auto happens = [&](double a_second) { return random_.chance(a_second * 0.01); };
  const int s = static_cast<int>(pick(0, shape_.senders - 1));
  const int r = static_cast<int>(pick(0, shape_.receivers - 1));
  const int i = static_cast<int>(pick(0, static_cast<Time>(nodes_.size()) - 1));
  if (happens(faults_.break_lane)) break_lane(s, r);
  if (happens(faults_.swallow)) {
    set_lane(s, r, random_.chance(0.5) ? LaneState::kSwallowsData : LaneState::kSwallowsAll);
    post(now_ + pick(1, 15 * kPeriod), What::kLaneBack, -1, r, s);
  }
  if (happens(faults_.false_death)) {
    if (random_.chance(0.5))
      post(now_, What::kDeadToReceiver, r, s);
    else
      post(now_, What::kDeadToSender, node_of_sender(s), r);
  }
  if (happens(faults_.stop) && !node(i).stopped && !node(i).down) {
    node(i).stopped = true;
    post(now_ + pick(1, 12 * kPeriod), What::kResume, i);
  }
  if (happens(faults_.crash) && !node(i).down) crash(i, pick(1, 8 * kPeriod));
  if (happens(faults_.remark)) remark(r);
  if (happens(faults_.give_up)) give_up(r);
}

// What flies on the data lane is cut out from somewhere on; now and then a piece of it comes after
// all, late.
void World::break_lane(int s, int r) {
  auto& flying = lane(s, r).flying;
  if (flying.empty()) return;
  const auto last = static_cast<Time>(flying.size()) - 1;
  const auto from = pick(0, last);
  const auto to = random_.chance(0.3) ? last : pick(from, last);
  for (auto i = from; i <= to; ++i) {
    const auto id = static_cast<std::size_t>(flying[static_cast<std::size_t>(i)]);
    if (messages_[id].cut) continue;
    messages_[id].cut = true;
    if (!random_.chance(0.2)) continue;
    Message copy = messages_[id];
    copy.cut = false;
    messages_.push_back(std::move(copy));
    post(now_ + pick(0, 3 * kPeriod), What::kMail, r, 0, static_cast<int>(messages_.size()) - 1);
  }
}

void World::remark(int r) {
  if (node(r).down) return;
  marks_moved_ = true;
  const auto high = static_cast<unsigned>(pick(1, shape_.high));
  consumer(r).marks = {high, default_low(high, shape_.slots)};
  consumer(r).window->set_marks(consumer(r).marks);
  if (!node(r).stopped) after_input(r);
}

// A consumer gives back something that it has not begun.
void World::give_up(int r) {
  if (node(r).down || node(r).stopped) return;
  auto& all = consumer(r).held;
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [](const Held& held) { return !held.running; });
  if (found == all.rend()) return;
  // False if the window dropped it this turn: then collect() says so.
  if (!consumer(r).window->hand_back(key(found->sender), found->item)) return;
  ledger_.release(found->token);
  all.erase(found.base() - 1);
  after_input(r);
}

void World::crash(int i, Time away) {
  Node& at = node(i);
  at.down = true;
  at.stopped = at.turn_posted = false;
  for (auto& event : at.parked) {
    if (event.what == What::kBeat || event.what == What::kJob || event.what == What::kAliveToSender)
      post(now_, event.what, event.node, event.other, event.arg);
    if (event.what == What::kData)
      std::erase(lane(messages_[static_cast<std::size_t>(event.arg)].sender, i).flying, event.arg);
  }
  at.parked.clear();
  if (i < shape_.receivers) {
    for (auto* all : {&consumer(i).held, &consumer(i).finished}) {
      for (const auto& held : *all) ledger_.release(held.token);
      all->clear();
    }
    for (int s = 0; s < shape_.senders; ++s)
      if (random_.chance(0.5))
        post(now_ + pick(1, 6 * kPeriod), What::kDeadToSender, node_of_sender(s), i);
  } else {
    Owner& gone = owner(i - shape_.receivers);
    std::vector<std::uint64_t> tokens;
    for (auto& out : gone.windows) out.on_dead(tokens);
    for (const auto token : tokens) ledger_.end(static_cast<int>(token), Ledger::End::kVoid);
    gone.waiting.clear();
    for (int r = 0; r < shape_.receivers; ++r)
      if (random_.chance(0.5))
        post(now_ + pick(1, 6 * kPeriod), What::kDeadToReceiver, r, i - shape_.receivers);
  }
  post(now_ + away, What::kRestart, i);
}

void World::restart(int i) {
  if (!node(i).down) return;
  node(i).down = false;
  if (i < shape_.receivers) {
    ++consumer(i).life;
    begin_consumer(i);
    for (int s = 0; s < shape_.senders; ++s)
      if (!random_.chance(faults_.lose))
        post(now_ + pick(shape_.delay_min, shape_.delay_max), What::kAliveToSender,
             node_of_sender(s), i);
    return;
  }
  const int s = i - shape_.receivers;
  ++owner(s).life;
  begin_owner(s);
  for (int r = 0; r < shape_.receivers; ++r)
    post(now_ + pick(1, 10 * kPeriod), What::kNewLifeToReceiver, r, s,
         static_cast<int>(owner(s).life));
  after_input(i);
}

void World::resume(int i) {
  if (!node(i).stopped) return;
  node(i).stopped = false;
  for (const auto& event : node(i).parked)
    post(std::max(event.at, now_), event.what, event.node, event.other, event.arg);
  node(i).parked.clear();
}

void World::heal() {
  faults_ = {};
  faulty_ = false;
  for (auto& way : lanes_) way.state = LaneState::kWhole;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    resume(i);
    restart(i);
  }
  for (int r = 0; r < shape_.receivers; ++r) {
    consumer(r).marks = {shape_.high, shape_.low};
    consumer(r).window->set_marks(consumer(r).marks);
    after_input(r);
  }
}

}  // namespace headrace::flow_test
