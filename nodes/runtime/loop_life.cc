// The lives of a Peer in one node: the first, and one more after each failed write.
#include <sodium.h>

#include <algorithm>
#include <utility>

#include "nodes/runtime/clock.h"
#include "nodes/runtime/incarnation.h"
#include "nodes/runtime/loop.h"
#include "nodes/runtime/remembered.h"

namespace headrace::runtime {

namespace {

constexpr Millis kOpenAgain{100};  // doubling
constexpr Millis kOpenAgainMax{10'000};

}  // namespace

std::uint64_t Loop::new_seed() {
  std::uint64_t seed = 0;
  randombytes_buf(&seed, sizeof seed);
  return seed;
}

DiscoveryOptions Loop::discovery_options() const {
  const auto& setup = parts_.setup;
  const auto& bound = parts_.transport.control_endpoint();
  DiscoveryOptions options;
  options.self.cluster = setup.cluster;
  options.self.node = setup.identity.id;
  options.self.key = setup.identity.key_bytes();
  if (bound.is_numeric() && !bound.is_wildcard()) options.self.host = bound.host;
  options.self.port = bound.port;
  options.beacon_port = setup.beacon_port;
  if (setup.options.lan) options.reach = transport::BeaconReach::kLan;
  return options;
}

DiscoveryHooks Loop::discovery_hooks() {
  return {[this](const NodeId& node, const std::string& endpoint) {
            if (peer_) peer_->on_heard_of(now_, node, endpoint);
          },
          [this](const NodeId& node) {
            if (peer_) peer_->on_refused(now_, node);
          },
          [this](const std::string& text) { parts_.note(text); }};
}

PeerConfig Loop::peer_config(Incarnation incarnation) const {
  const auto& setup = parts_.setup;
  PeerConfig config;
  config.id = setup.identity.id;
  config.incarnation = incarnation;
  config.seed = new_seed();
  config.name = setup.options.name;
  config.cluster = setup.options.cluster;
  config.control_endpoint = setup.control;
  config.data_endpoint = setup.data;
  config.tags = setup.options.tags;
  config.seeds = setup.options.join;
  config.owner = setup.options.owner;
  config.has_store = storage_ != nullptr;
  config.reopened = era_ > 1;
  return config;
}

Storage::Reports Loop::reports() {
  const auto era = era_;
  return {[this, era](CommitReport report) {
            inbox_.push(Committed{era, std::move(report)});
          },
          [this, era](std::vector<job::Continuation> done) {
            inbox_.push(ReadDone{era, std::move(done)});
          },
          [this, era](Error error) {
            inbox_.push(StoreFailed{era, std::move(error)});
          }};
}

// On storage_, if the node keeps anything.
Result<void> Loop::begin_life(Incarnation incarnation) {
  ++era_;
  auto config = peer_config(incarnation);
  std::unique_ptr<Snapshot> snapshot;
  if (storage_) {
    auto taken = storage_->store().snapshot();
    if (!taken) return fail(taken.error());
    snapshot = std::move(*taken);
    config.remembered = remembered_peers(*snapshot);
  }
  const auto& setup = parts_.setup;
  links_.emplace(parts_.transport, Links::Self{setup.cluster, setup.identity.id, incarnation});
  const wire::FrameHead to_self{.cluster = setup.cluster,
                                .sender = setup.identity.id,
                                .sender_incarnation = incarnation,
                                .receiver = setup.identity.id,
                                .receiver_incarnation = incarnation};
  for (auto& mail : own_mail_) mail.emplace(to_self);
  submitted_ = written_ = 0;
  peer_ = std::make_unique<Peer>(std::move(config), gate_);
  clients_ = std::make_unique<Clients>(
      parts_.plane,
      [this, era = era_](const std::function<void(Peer&)>& use) {
        if (peer_ && era == era_) use(*peer_);
        again_ = true;
      },
      [this](std::function<void()> task) { post([task = std::move(task)](Loop&) { task(); }); });
  if (auto opened = peer_->open(now_, snapshot.get()); !opened) return opened;
  if (storage_) {
    if (auto started = storage_->start(reports()); !started) return started;
  }
  runs_.bind(now_, *peer_, era_);
  if (!registrations_.empty()) peer_->set_registrations(now_, registrations_);
  if (!consuming_) peer_->stop_consuming(now_);
  members_changed_ = true;
  return {};
}

// Whoever waits learns that nobody knows what became of it, and everything that the Peer began is
// void.
void Loop::end_life(const Error& why) {
  life_ends_.reset();
  down_ = Error{Code::kStore, why.message};
  if (peer_) {
    for (auto& answer : peer_->abandon(why)) calls_.answer(answer.call, std::move(answer.answer));
  }
  calls_.answer_all(why);
  runs_.stop_all();
  waiting_reads_.clear();
  clients_.reset();
  peer_.reset();
  links_.reset();
  storage_.reset();
  ++era_;
}

// What the disk holds after a failed write is unknown, and LevelDB may go on acknowledging what is
// lost: the only way on is that of a crash. The Peer ends, the store is closed and opened anew, and
// a new Peer with a new incarnation takes up what is there, with the consumers and registrations of
// before. While the store does not open, calls fail with the reason and it is tried again, at
// growing distances.
void Loop::live_on() {
  if (life_ends_) {
    parts_.note(life_ends_->message);
    end_life(Error(*life_ends_));
    open_again_pause_ = Millis{0};
  }
  if (auto opened = open_again(); opened) {
    open_again_at_ = kNever;
    again_ = true;
    return;
  } else {
    end_life(opened.error());
  }
  open_again_pause_ = std::clamp(2 * open_again_pause_, kOpenAgain, kOpenAgainMax);
  open_again_at_ = now_.mono + open_again_pause_;
  parts_.note(down_.message + "; trying again in " + std::to_string(open_again_pause_.count()) +
              " ms");
}

Result<void> Loop::open_again() {
  const auto& setup = parts_.setup;
  Result<Incarnation> incarnation = begin_incarnation(now_.wall, above_);
  if (setup.keeps()) {
    auto storage = Storage::open(setup.options.data, setup.internal.store);
    if (!storage) return fail(storage.error());
    storage_ = std::move(*storage);
    incarnation = begin_incarnation(storage_->store(), now_.wall, above_);
    if (!incarnation) return fail(incarnation.error());
  }
  above_ = std::max(above_, *incarnation);
  parts_.plane.restart(*incarnation);
  return begin_life(*incarnation);
}

}  // namespace headrace::runtime
