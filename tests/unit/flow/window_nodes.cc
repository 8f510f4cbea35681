// What the nodes of a simulated world do: the part that a consumer's intake and an owner's queue
// play around the two ends of a window.
#include <algorithm>

#include "window_world.h"

namespace headrace::flow_test {

void World::begin_consumer(int r) {
  Consumer& at = consumer(r);
  at.window.emplace(at.life, at.marks);
  for (int s = 0; s < shape_.senders; ++s)
    at.window->set_weight(key(s), shape_.weights[static_cast<std::size_t>(s)]);
  at.last_occupancy = 0;
}

void World::begin_owner(int s) {
  Owner& at = owner(s);
  at.windows.assign(consumers_.size(), WindowSender(at.life));
  at.waiting.clear();
  for (const int job : at.undone)
    if (!job_done_[static_cast<std::size_t>(job)]) at.waiting.push_back(job);
}

void World::deliver(const Message& message) {
  const int s = message.sender, r = message.receiver;
  auto& receiver = *consumer(r).window;
  switch (message.kind) {
    case Kind::kItem: return take_in(message);
    case Kind::kMark: return receiver.on_mark(key(s), message.life, {message.announce});
    case Kind::kAnnounce: return receiver.on_announce(key(s), message.life, message.announce);
    case Kind::kDoneAck:
      receiver.on_acknowledged(key(s), message.life, message.item);
      if (message.life < receiver.view(key(s)).life) return;
      std::erase_if(consumer(r).finished, [&](const Held& held) {
        return held.sender == s && held.item == message.item;
      });
      return;
    case Kind::kState: {
      if (message.life != owner(s).life) return;
      std::vector<std::uint64_t> tokens;
      window(s, r).on_state(message.state, tokens);
      return requeue(s, tokens, Ledger::End::kHandedBack);
    }
    case Kind::kDone:
      if (message.life == owner(s).life) complete(message);
      return;
  }
}

void World::take_in(const Message& message) {
  const int s = message.sender, r = message.receiver;
  auto& receiver = *consumer(r).window;
  const wire::ItemHead head{message.announce};
  const auto before = receiver.view(key(s));
  const bool due = before.life == message.life && before.session == head.id().session &&
                   head.id().n > before.passed;
  switch (receiver.on_item(key(s), message.life, head)) {
    case Arrival::kTaken:
      ledger_.take(message.token);
      consumer(r).held.push_back({s, head.id(), message.token, false, message.life});
      return;
    case Arrival::kRefused: ++ledger_.refused; break;
    case Arrival::kDropped: ++ledger_.dropped; break;
  }
  require(!due || marks_moved_, "an item within credit of the running session was refused");
}

void World::complete(const Message& message) {
  const int s = message.sender, r = message.receiver;
  window(s, r).on_heard();
  if (const auto token = window(s, r).end_flight(message.item)) {
    require(static_cast<int>(*token) == message.token, "a completion ended another item");
    ledger_.end(message.token, Ledger::End::kDone);
    const auto job = static_cast<std::size_t>(ledger_.job_of(message.token));
    require(!job_done_[job], "a job was done twice");
    job_done_[job] = true;
    ++finished_;
    ++owner(s).done;
  }
  Message ack;
  ack.kind = Kind::kDoneAck;
  ack.sender = s, ack.receiver = r, ack.life = owner(s).life, ack.item = message.item;
  send(std::move(ack));
}

void World::end_job(int r, int token) {
  Consumer& at = consumer(r);
  const auto found = std::find_if(at.held.begin(), at.held.end(),
                                  [&](const Held& held) { return held.token == token; });
  if (found == at.held.end()) return;
  const Held held = *found;
  at.held.erase(found);
  ledger_.run(token);
  if (at.window->on_ended(key(held.sender), held.item)) {
    at.finished.push_back(held);
    tell_done(r, held);
  } else {
    ledger_.release(token);
  }
}

void World::tell_done(int r, const Held& held) {
  Message done;
  done.kind = Kind::kDone;
  done.sender = held.sender, done.receiver = r, done.life = held.life;
  done.item = held.item, done.token = held.token;
  send(std::move(done));
}

void World::consumer_period(int r) {
  Consumer& at = consumer(r);
  if (at.window->period_needed()) at.window->on_period();
  for (const auto& held : at.finished) tell_done(r, held);
}

void World::owner_period(int s) {
  for (auto& out : owner(s).windows)
    if (out.period_needed()) out.on_period();
}

void World::consumer_turn(int r) {
  Consumer& at = consumer(r);
  start_jobs(r);
  states_.clear();
  dropped_.clear();
  at.window->collect(states_, dropped_);
  for (const auto& dropped : dropped_) drop(r, dropped);
  for (auto& [to, state] : states_) {
    Message message;
    message.kind = Kind::kState;
    message.sender = static_cast<int>(to.node.low());
    message.receiver = r;
    message.life = state.sender;
    message.state = std::move(state);
    send(std::move(message));
  }
  // Completions of a sender's earlier life are nobody's.
  std::erase_if(at.finished, [&](const Held& held) {
    if (at.window->lists(key(held.sender), held.item)) return false;
    ledger_.release(held.token);
    return true;
  });
}

void World::drop(int r, const WindowReceiver::Dropped& dropped) {
  auto& all = consumer(r).held;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Held& held) {
    return key(held.sender) == dropped.from && held.item == dropped.item;
  });
  require(found != all.end() && !found->running, "an item was dropped that was not waiting");
  ledger_.release(found->token);
  all.erase(found);
}

void World::start_jobs(int r) {
  Consumer& at = consumer(r);
  auto running = static_cast<unsigned>(
      std::count_if(at.held.begin(), at.held.end(), [](const Held& h) { return h.running; }));
  for (auto& held : at.held) {
    if (running >= shape_.slots) break;
    if (held.running || !at.window->on_started(key(held.sender), held.item)) continue;
    held.running = true;
    ++running;
    if (at.first_start < 0) at.first_start = now_;
    post(now_ + job_length(), What::kJobEnd, r, static_cast<int>(at.life), held.token);
  }
}

void World::owner_turn(int s) {
  dispatch(s);
  for (int r = 0; r < shape_.receivers; ++r) {
    auto out = window(s, r).collect();
    Message message;
    message.sender = s, message.receiver = r, message.life = owner(s).life;
    if (out.announce) {
      message.kind = Kind::kAnnounce;
      message.announce = *out.announce;
      send(message);
    }
    if (out.mark) {
      message.kind = Kind::kMark;
      message.announce = out.mark->announce;
      send(message);
    }
  }
}

void World::dispatch(int s) {
  Owner& at = owner(s);
  const auto want = [&] { return std::min<std::uint64_t>(at.waiting.size(), shape_.high); };
  const auto all = at.windows.size();
  while (!at.waiting.empty()) {
    std::size_t best = all;
    for (std::size_t k = 0; k < all; ++k) {
      const auto r = (at.turn + k) % all;
      const auto credit = at.windows[r].credit();
      if (credit > 0 && (best == all || credit > at.windows[best].credit())) best = r;
    }
    if (best == all) break;
    at.turn = (best + 1) % all;
    const int token = ledger_.dispatch(at.waiting.front());
    at.windows[best].set_want(want());
    at.waiting.pop_front();
    Message item;
    item.kind = Kind::kItem;
    item.sender = s, item.receiver = static_cast<int>(best), item.life = at.life;
    item.announce = at.windows[best].take_item(static_cast<std::uint64_t>(token)).announce;
    item.token = token;
    send(std::move(item));
  }
  for (auto& out : at.windows) out.set_want(want());
}

void World::requeue(int s, const std::vector<std::uint64_t>& tokens, Ledger::End how) {
  for (const auto token : tokens) {
    ledger_.end(static_cast<int>(token), how);
    owner(s).waiting.push_front(ledger_.job_of(static_cast<int>(token)));
  }
}

}  // namespace headrace::flow_test
