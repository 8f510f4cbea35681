#include "core/peer/peer.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/limits.h"

namespace headrace {
namespace {

MembershipOptions membership_options(const PeerConfig& config) {
  MembershipOptions options;
  options.id = config.id;
  options.incarnation = config.incarnation;
  options.about.name = config.name;
  options.about.control_endpoint = config.control_endpoint;
  options.about.data_endpoint = config.data_endpoint;
  options.about.tags = config.tags;
  options.about.has_store = config.has_store;
  options.about.reopened = config.reopened;
  options.seeds = config.seeds;
  options.remembered = config.remembered;
  return options;
}

}  // namespace

Peer::Peer(PeerConfig config, EventPort& events)
    : config_(std::move(config)),
      events_(events),
      random_(config_.seed),
      membership_(membership_options(config_), random_),
      intake_(*this, config_.incarnation) {}

Peer::~Peer() = default;

Result<void> Peer::open(const job::Now& now, const Snapshot* store) {
  HEADRACE_CHECK(config_.has_store == (store != nullptr));
  if (store != nullptr) {
    job::OwnerConfig owner{config_.id, config_.incarnation, random_.next() | 1, config_.retention};
    owner_ = std::make_unique<job::JobOwner>(static_cast<job::Host&>(*this), random_, owner);
    if (auto opened = owner_->open(now, *store); !opened) return opened;
    HEADRACE_CHECK(!batch_.empty() && batch_level_ == Level::kDisk);  // it moved its marks
    gate_.hold_until_synced(last_commit_ + 1);
  }
  membership_.start(now.mono);
  publish_advert(now);
  return {};
}

void Peer::on_commit(const job::Now&, CommitNumber written, CommitNumber synced) { gate_.reached(written, synced); }

void Peer::on_read(const job::Now& now, const job::Continuation& continuation) { continuation(now); }

void Peer::on_job_ended(const job::Now& now, job::RunId run, JobEnd end, Nanos took) {
  intake_.ended(now, run, std::move(end), took);
}

void Peer::on_refused(const job::Now& now, const NodeId& node) { membership_.link_refused(now.mono, node); }

void Peer::on_heard_of(const job::Now& now, const NodeId& node, const std::string& endpoint) {
  membership_.heard_of(now.mono, node, endpoint);
}

void Peer::held_up(const job::Now& now, Nanos duration) {
  membership_.held_up(now.mono, duration);
  intake_.held_up(duration);
  if (owner_) owner_->held_up(duration);
}

void Peer::tick(const job::Now& now) {
  membership_.tick(now.mono);
  intake_.tick(now);
  if (owner_) owner_->tick(now);
  check_calls(now);
}

job::ConsumerNumber Peer::add_consumer(const job::Now&, job::ConsumerConfig config) {
  advert_due_ = true;
  return intake_.add_consumer(std::move(config));
}

void Peer::stop_consumer(const job::Now&, job::ConsumerNumber consumer) {
  advert_due_ = true;
  intake_.stop_consumer(consumer);
}

void Peer::set_registrations(const job::Now&, Bytes registrations) {
  registrations_ = std::move(registrations);
  advert_due_ = true;
}

void Peer::stop_consuming(const job::Now&) {
  advert_due_ = true;
  intake_.stop_all();
}

void Peer::not_started(const job::Now&, const std::vector<job::RunId>& runs) {
  intake_.not_started(runs);
}

void Peer::leave(const job::Now& now) {
  intake_.give_up_runs();
  membership_.leave(now.mono);
}

TurnOutput Peer::end_turn(const job::Now& now) {
  if (advert_due_) publish_advert(now);
  follow_membership(now);
  intake_.end_turn(now);
  if (owner_) owner_->end_turn(now);

  TurnOutput output;
  if (!batch_.empty()) {
    output.commit = Commit{++last_commit_, batch_level_, std::move(batch_)};
    batch_ = {};
    batch_level_ = Level::kOs;
  }
  for (auto& read : reads_) read.after = last_commit_;
  output.reads = std::move(reads_);
  reads_.clear();
  if (members_changed_) act(MembersChanged{});
  members_changed_ = false;
  if (!was_ready_ && membership_.ready()) {
    was_ready_ = true;
    act(ReadyNow{});
  }
  // Only now is it known which commit the turn's actions wait for.
  for (auto& [action, after] : turn_) {
    if (const auto* reach = std::get_if<Reach>(&action)) gate_.forget_mail(reach->node);
    if (const auto* unreach = std::get_if<Unreach>(&action)) gate_.forget_mail(unreach->node);
    gate_.add(std::move(action), after, last_commit_);
  }
  turn_.clear();
  gate_.release(output.actions);
  return output;
}

MonoTime Peer::next_timer(const job::Now& now) const {
  auto next = std::min({membership_.next_timer(), intake_.next_timer(), next_call_check_});
  if (owner_) next = std::min(next, owner_->next_timer(now));
  return next;
}

void Peer::act(Action action, job::After after) { turn_.emplace_back(std::move(action), after); }

WriteBatch& Peer::batch(Level level) {
  HEADRACE_CHECK(level != Level::kMemory);
  if (level == Level::kDisk) batch_level_ = Level::kDisk;
  return batch_;
}

void Peer::send(const NodeId& to, wire::Lane lane, Bytes message, job::After after) {
  act(Send{to, lane, std::move(message)}, after);
}

void Peer::send(const NodeId& to, wire::Lane lane, Bytes message) {
  act(Send{to, lane, std::move(message)});
}

void Peer::send_event_control(const NodeId& to, Bytes message) {
  act(Send{to, wire::Lane::kControl, std::move(message)});
}

void Peer::read(job::ReadTask task) { reads_.push_back({0, std::move(task)}); }

void Peer::start(job::ConsumerNumber consumer, job::RunId run, std::shared_ptr<const job::HeldJob> job) {
  act(StartJob{consumer, run, std::move(job)});
}

}  // namespace headrace
