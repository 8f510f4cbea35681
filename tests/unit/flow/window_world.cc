#include "window_world.h"

#include <algorithm>
#include <cmath>

namespace headrace::flow_test {

World::World(const Shape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
  shape_.weights.resize(static_cast<std::size_t>(shape.senders), 1);
  for (int s = 0; s < shape.senders; ++s)
    keys_.push_back({NodeId::from_halves(2, static_cast<std::uint64_t>(s)), "q"});
  consumers_.resize(static_cast<std::size_t>(shape.receivers));
  owners_.resize(static_cast<std::size_t>(shape.senders));
  nodes_.resize(consumers_.size() + owners_.size());
  lanes_.resize(consumers_.size() * owners_.size());
  for (int r = 0; r < shape.receivers; ++r) {
    consumer(r).marks = {shape.high, shape.low};
    begin_consumer(r);
  }
  for (int s = 0; s < shape.senders; ++s) begin_owner(s);
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) post(pick(1, kPeriod), What::kBeat, i);
}

void World::post(Time at, What what, int node, int other, int arg) {
  events_.push({at, ++order_, what, node, other, arg});
}

void World::add_jobs(int sender, int count, Time at) {
  for (int i = 0; i < count; ++i) post(at, What::kJob, node_of_sender(sender));
}

void World::send(Message message) {
  const bool data = message.kind == Kind::kItem || message.kind == Kind::kMark;
  const bool to_consumer = message.kind != Kind::kState && message.kind != Kind::kDone;
  if (message.kind == Kind::kMark || message.kind == Kind::kAnnounce ||
      message.kind == Kind::kState)
    ++window_messages_;
  const int s = message.sender, r = message.receiver;
  const int to = to_consumer ? r : node_of_sender(s);
  DataLane& way = lane(s, r);
  if (way.state == LaneState::kSwallowsAll || (data && way.state != LaneState::kWhole)) return;
  messages_.push_back(std::move(message));
  const int id = static_cast<int>(messages_.size()) - 1;
  const Time delay = pick(shape_.delay_min, shape_.delay_max);
  if (data) {
    way.last = std::max(way.last, now_ + delay + shape_.data_extra);
    way.flying.push_back(id);
    post(way.last, What::kData, to, 0, id);
    return;
  }
  for (int copies = random_.chance(faults_.repeat) ? 2 : 1; copies > 0; --copies) {
    if (random_.chance(faults_.lose)) continue;
    const Time extra = random_.chance(faults_.late) ? pick(0, 4 * kPeriod) : 0;
    post(now_ + delay + extra, What::kMail, to, 0, id);
  }
}

bool World::step() {
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  account(event.at);
  now_ = event.at;
  ++steps_;
  if (event.node < 0) {
    handle(event);
    return true;
  }
  Node& at = node(event.node);
  const bool lasting = event.what == What::kBeat || event.what == What::kJob;
  if (at.down && !lasting && event.what != What::kRestart) {
    if (event.what == What::kAliveToSender)
      post(now_ + kPeriod, event.what, event.node, event.other);
    if (event.what == What::kData)
      std::erase(lane(messages_[static_cast<std::size_t>(event.arg)].sender, event.node).flying,
                 event.arg);
    return true;
  }
  if (at.stopped && event.what != What::kResume && event.what != What::kRestart) {
    at.parked.push_back(event);
    return true;
  }
  handle(event);
  check(event.node);
  return true;
}

void World::handle(const Event& event) {
  const int r = event.node, s = event.node - shape_.receivers;
  switch (event.what) {
    case What::kData: {
      const auto& message = messages_[static_cast<std::size_t>(event.arg)];
      std::erase(lane(message.sender, message.receiver).flying, event.arg);
      if (message.cut) return;
      deliver(Message(message));
      break;
    }
    case What::kMail: deliver(Message(messages_[static_cast<std::size_t>(event.arg)])); break;
    case What::kBeat:
      post(now_ + kPeriod, What::kBeat, event.node);
      if (node(event.node).down) return;
      if (s < 0)
        consumer_period(r);
      else
        owner_period(s);
      break;
    case What::kTurn:
      node(event.node).turn_posted = false;
      if (s < 0)
        consumer_turn(r);
      else
        owner_turn(s);
      return;
    case What::kJobEnd:
      if (consumer(r).life != static_cast<Incarnation>(event.other)) return;
      end_job(r, event.arg);
      break;
    case What::kJob:
      owner(s).undone.push_back(static_cast<int>(job_done_.size()));
      if (!node(event.node).down) owner(s).waiting.push_back(static_cast<int>(job_done_.size()));
      job_done_.push_back(false);
      if (node(event.node).down) return;
      break;
    case What::kFault:
      if (!faulty_) return;
      fault();
      post(now_ + pick(1, 20 * kMs), What::kFault, -1);
      return;
    case What::kResume: resume(event.node); return;
    case What::kRestart: restart(event.node); return;
    case What::kLaneBack: set_lane(event.arg, event.other, LaneState::kWhole); return;
    case What::kDeadToReceiver: consumer(r).window->on_dead(key(event.other).node); break;
    case What::kNewLifeToReceiver:
      consumer(r).window->on_incarnation(key(event.other).node,
                                         static_cast<Incarnation>(event.arg));
      break;
    case What::kDeadToSender: {
      std::vector<std::uint64_t> tokens;
      window(s, event.other).on_dead(tokens);
      requeue(s, tokens, Ledger::End::kTakenBack);
      post(now_ + pick(1, 6 * kPeriod), What::kAliveToSender, event.node, event.other);
      break;
    }
    case What::kAliveToSender:
      if (node(event.other).down)
        post(now_ + kPeriod, What::kAliveToSender, event.node, event.other);
      else
        window(s, event.other).on_alive();
      break;
  }
  after_input(event.node);
}

// The turn that follows an input: at once, or shared with the inputs of some time.
void World::after_input(int i) {
  if (shape_.turn > 0 && !node(i).turn_posted) {
    node(i).turn_posted = true;
    post(now_ + pick(0, shape_.turn), What::kTurn, i);
  }
  if (shape_.turn > 0) return;
  if (i < shape_.receivers)
    consumer_turn(i);
  else
    owner_turn(i - shape_.receivers);
}

void World::run_until(Time time) {
  while (!events_.empty() && events_.top().at <= time) step();
  account(time);
  now_ = time;
}

Time World::job_length() {
  if (shape_.lengths == Lengths::kEqual) return shape_.job_mean;
  if (shape_.lengths == Lengths::kFewLong)
    return random_.chance(0.05) ? 50 * shape_.job_mean : shape_.job_mean;
  const double u = 1 - random_.unit();
  return static_cast<Time>(-std::log(u) * static_cast<double>(shape_.job_mean)) + 1;
}

// ---- what must hold after every step

void World::check(int i) {
  if (node(i).down) return;
  if (i < shape_.receivers) {
    check_consumer(i);
    for (int s = 0; s < shape_.senders; ++s) check_pair(s, i);
  } else {
    for (int r = 0; r < shape_.receivers; ++r) check_pair(i - shape_.receivers, r);
  }
}

void World::check_consumer(int r) {
  Consumer& at = consumer(r);
  const auto& window = *at.window;
  const bool settled = !node(r).turn_posted;  // else something may be dropped and not told yet
  require(window.occupancy() == at.held.size() || (!settled && window.occupancy() < at.held.size()),
          "occupancy is not what is held");
  require(window.occupancy() <= std::max<std::uint64_t>(at.marks.high, at.last_occupancy),
          "occupancy rose over the high mark");
  at.last_occupancy = window.occupancy();
  std::uint64_t reserves = 0;
  for (int s = 0; s < shape_.senders; ++s) {
    const auto view = window.view(key(s));
    reserves += view.limit - view.burned - view.passed;
    require(marks_moved_ || view.finished <= 2 * at.marks.high, "completions over their bound");
  }
  require(reserves == window.reserve(), "the total of reserves is wrong");
  if (marks_moved_) return;
  require(window.occupancy() + reserves <= at.marks.high,
          "occupancy and reserves over the high mark");
}

void World::check_pair(int s, int r) {
  if (node(r).down || node(node_of_sender(s)).down) return;
  const auto view = consumer(r).window->view(key(s));
  const auto& out = window(s, r);
  if (!view.session.exists() || view.session != out.session() || view.life != owner(s).life) return;
  require(out.limit() <= view.limit, "the sender's limit is over the receiver's");
  require(view.burned <= out.burned() && view.passed <= out.sent(),
          "the receiver counts more than the sender sent");
}

bool World::nothing_held() const {
  return std::all_of(consumers_.begin(), consumers_.end(),
                     [](const Consumer& at) { return at.held.empty(); });
}

void World::require_rest() {
  ledger_.require_all_ended();
  for (int s = 0; s < shape_.senders; ++s) {
    require(owner(s).waiting.empty(), "unfinished jobs at rest");
    for (int r = 0; r < shape_.receivers; ++r) {
      require(window(s, r).flights() == 0, "flights at rest");
    }
  }
  for (int r = 0; r < shape_.receivers; ++r) {
    const auto& window_of = *consumer(r).window;
    require(window_of.idle() && consumer(r).finished.empty(), "held items at rest");
    bool open = false;
    for (int s = 0; s < shape_.senders; ++s) {
      const auto view = window_of.view(key(s));
      const auto& out = window(s, r);
      if (!view.session.exists()) continue;
      open = true;
      require(view.session == out.session(), "the ends disagree on the session at rest");
      require(view.limit - view.burned - view.passed == out.limit() - out.used(),
              "reserve differs from credit at rest");
    }
    require(!open || window_of.reserve() == consumer(r).marks.high, "credit is missing at rest");
    require(!window_of.period_needed(), "a receiver counts periods at rest");
    for (int s = 0; s < shape_.senders; ++s)
      require(!window(s, r).period_needed(), "a sender counts periods at rest");
  }
}

// ---- measures

void World::account(Time until) {
  const auto passed = static_cast<double>(until - now_);
  for (int r = 0; r < shape_.receivers; ++r) {
    if (node(r).down) continue;
    for (const auto& held : consumer(r).held) {
      if (held.running) consumer(r).busy += passed;
      owner(held.sender).place += passed;
    }
  }
}

void World::reset_measure() {
  measured_from_ = now_;
  window_messages_ = 0;
  finished_before_ = finished_;
  for (auto& at : consumers_) at.busy = 0;
  for (auto& at : owners_) at.place = 0;
}

double World::slots_used() const {
  double busy = 0;
  for (const auto& at : consumers_) busy += at.busy;
  return busy / static_cast<double>((now_ - measured_from_) * shape_.receivers *
                                    std::min(shape_.slots, shape_.high));
}

std::vector<double> World::places() const {
  double all = 0;
  for (const auto& at : owners_) all += at.place;
  std::vector<double> shares;
  for (const auto& at : owners_) shares.push_back(at.place / all);
  return shares;
}

double World::messages_an_item() const {
  return static_cast<double>(window_messages_) / std::max(1, finished_ - finished_before_);
}

Time World::first_start(int receiver) const {
  return consumers_[static_cast<std::size_t>(receiver)].first_start;
}

std::uint64_t World::held_of(int sender) const {
  std::uint64_t held = 0;
  for (const auto& at : consumers_) held += at.window->view(key(sender)).held;
  return held;
}

}  // namespace headrace::flow_test
