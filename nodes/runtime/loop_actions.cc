// What a turn of the Peer asks for, carried out.
#include <utility>

#include "nodes/member_row.h"
#include "nodes/runtime/loop.h"

namespace headrace::runtime {

namespace {

constexpr Millis kShowMembersEvery{1000};

}  // namespace

void Loop::carry_out(TurnOutput output) {
  if (output.commit) {
    submitted_ = output.commit->number;
    storage_->commits().submit(std::move(*output.commit));
  }
  for (auto& read : output.reads) waiting_reads_.push_back(std::move(read));
  submit_reads();
  for (auto& action : output.actions) {
    std::visit([this](auto& what) { act(what); }, action);
  }
  show_members();
}

// When a write is through, so is everything that was to be synced with it or before.
void Loop::submit_reads() {
  std::size_t through = 0;
  for (auto& read : waiting_reads_) {
    if (read.after > written_) break;
    storage_->reads().submit(std::move(read.task));
    ++through;
  }
  waiting_reads_.erase(waiting_reads_.begin(),
                       waiting_reads_.begin() + static_cast<std::ptrdiff_t>(through));
}

void Loop::act(Send& action) {
  if (action.to != parts_.setup.identity.id) {
    return links_->append(action.to, action.lane, action.message);
  }
  own_mail_[static_cast<std::size_t>(action.lane)]->append(action.message);
  again_ = true;
}

void Loop::act(SendEndpoint& action) {
  links_->append_endpoint(action.endpoint, action.message, now_.mono);
}

void Loop::act(SendClient& action) { links_->append_client(action.routing_id, action.message); }

void Loop::act(Reach& action) {
  if (auto reached = links_->reach(action); !reached) {
    parts_.note("node " + action.node.hex() + " cannot be reached: " + reached.error().message);
  }
}

void Loop::act(Unreach& action) { links_->unreach(action.node); }

void Loop::act(StartJob& action) { runs_.start(std::move(action)); }

void Loop::act(StopJob& action) { runs_.stop(action.run); }

void Loop::act(AnswerCall& action) { calls_.answer(action.call, std::move(action.answer)); }

void Loop::act(ClientSubscribe& action) {
  if (auto subscribed = clients_->subscribe(action); !subscribed) {
    parts_.note("a client's registration failed: " + subscribed.error().message);
  }
}

void Loop::act(ClientUnsubscribe& action) { clients_->unsubscribe(action); }

void Loop::act(ClientPublish& action) { clients_->publish(action); }

void Loop::act(IncarnationNeeded& action) {
  above_ = std::max(above_, action.above);
  life_ends_ =
      Error{Code::kStore, "this node was known in a later incarnation; it starts anew above it"};
}

void Loop::flush() {
  if (links_) links_->flush(gone_clients_);
  for (const auto& client : gone_clients_) {
    if (peer_) peer_->on_client_gone(now_, client);
    again_ = true;
  }
  gone_clients_.clear();
  runs_.flush();
  calls_.flush();
}

// Also now and then without a change: round trips are worth less the older they are.
void Loop::show_members() {
  if (!std::exchange(members_changed_, false) && now_.mono < show_members_at_) return;
  show_members_at_ = now_.mono + kShowMembersEvery;
  std::vector<Member> members;
  for (auto& row : peer_->members(now_)) members.push_back(to_member(std::move(row), now_.wall));
  for (const auto& event : member_news_.changes(members)) {
    parts_.plane.publish_system(event.topic, event.params);
  }
  parts_.board.set_members(std::move(members));
}

}  // namespace headrace::runtime
