// Membership of one node: who else is there, alive or not, where, and with which advert.
//
// SWIM with the Lifeguard refinements over the control lane, digest sync, a reconnector for what
// was lost, and adverts pulled by whoever is behind. A pure state machine: each input has the time,
// and leaves outputs that take_outputs() drains. Owned by the Peer, called by its one thread;
// nothing blocks.
//
// Time must not run backwards between inputs. Call tick() when next_timer() has come; calling it
// early does no harm. Read all waiting input before tick(), else answers that lie there become
// suspicions.
//
// Limits: limits::kMembers members, of which surplus is refused and noted; messages as in
// core/wire/member.h. A message that does not decode changes nothing and is the caller's to count.
// Iterates over no hash map, so the same inputs and seed give the same outputs everywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/member/adverts.h"
#include "core/member/joiner.h"
#include "core/member/prober.h"
#include "core/member/shared.h"
#include "core/member/suspicion.h"
#include "core/member/syncer.h"

namespace headrace {

struct MembershipOptions {
  NodeId id;
  Incarnation incarnation = 0;  // above that of each earlier start
  wire::Description about;
  Profile profile;
  std::vector<std::string> seeds;  // control endpoints; the node's own among them is fine
  std::vector<std::string>
      remembered;          // peers of an earlier start; they help, but ready() does not need them
  Lives* lives = nullptr;  // shared with others of the same thread; null: it keeps its own
};

class Membership final {
 public:
  // `random` must outlive this.
  Membership(MembershipOptions options, Random& random);
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Before start(): a live member that is known beforehand, kept in MembershipOptions::lives. Nobody
  // is told. For a world that begins with a cluster that has long been formed.
  void know(const LifeRef& life);
  // Once, first. Dials seeds and remembered peers.
  void start(MonoTime now);

  // A message of the membership group, from the node that the frame's head names.
  Result<void> receive(MonoTime now, NodeId from, BytesView message);
  void tick(MonoTime now);
  // When tick() has something to do; kNever if nothing is under way.
  MonoTime next_timer() const { return next_timer_; }

  // Any valid frame came directly from `node` in this incarnation. It answers a probe under way and
  // puts off a death that is due: who talks to us is not dead, though only the node itself can end
  // the suspicion. From an incarnation that is not known, or from one believed dead, it makes us
  // say hello. Cheap: call it per frame.
  void peer_heard(MonoTime now, NodeId node, Incarnation incarnation);
  // A lost connection to `node` was redialled and refused at once: its process is gone, or nobody
  // listens there. Others are asked at once; if none reaches it, its suspicion is short
  // (Profile::refused_suspicion).
  void link_refused(MonoTime now, NodeId node);
  // Somebody says that `node` is at `endpoint`. Says hello there if it is not known as live; of a
  // large cluster a few members do.
  void heard_of(MonoTime now, NodeId node, const std::string& endpoint);
  // The caller's loop stood still that long: nobody is to blame for what did not arrive. All
  // deadlines move.
  void held_up(MonoTime now, Nanos duration);

  // This node's public statement, at most limits::kAdvertBytes. The same bytes again change
  // nothing.
  void set_advert(MonoTime now, Bytes advert);
  // Tells everybody, once. The caller lingers until the outputs are sent; pings are still answered.
  void leave(MonoTime now);

  std::vector<MemberOutput> take_outputs();
  // Of the newest ping that was answered, once.
  std::optional<Prober::RoundTrip> take_round_trip() { return prober_.take_round_trip(); }

  // True once this node knows every member that its seeds know, with their adverts; without seeds
  // at once. Does not wait for a seed that was tried and gave no answer while another one did.
  // Stays true.
  bool ready() const { return ready_; }

  // This node first, dead and left ones too while they are remembered.
  const std::vector<MemberRecord>& members() const { return shared_.table.all(); }
  const MemberRecord* find(NodeId id) const { return shared_.table.find(id); }
  // Alive or suspect, this node included.
  std::size_t live() const { return shared_.table.live(); }
  // Over all that is alive or suspect, with numbers and advert versions: equal for equal views.
  std::uint64_t view_hash() const { return shared_.table.hash(); }
  // Of this node or another; empty if none came yet. Valid until the next input. Kept while the
  // member is known, so one that returns within its incarnation has it at once.
  BytesView advert(NodeId id) const { return adverts_.bytes(id); }
  Numbers numbers() const { return shared_.self().numbers(); }
  bool left() const { return left_; }

 private:
  // What a sync says of a death is checked before it is believed; gossip is believed, and refuted
  // if wrong.
  enum class Via : std::uint8_t { kGossip, kSync };

  // membership_messages.cc
  void on(NodeId from, const wire::Hello& hello);
  void on(NodeId from, const wire::HelloAck& ack);
  void on(NodeId from, const wire::Reject& reject);
  void on(NodeId from, const wire::Ping& ping);
  void on(NodeId from, const wire::Ack& ack);
  void on(NodeId from, const wire::PingRequest& request);
  void on(NodeId from, const wire::Nack& nack);
  void on(NodeId from, const wire::Gossip& gossip);
  void on(NodeId from, const wire::SyncDigest& digest);
  void on(NodeId from, const wire::SyncNeed& need);
  void on(NodeId from, const wire::SyncState& state);
  void on(NodeId from, const wire::Leave& leave);
  void on(NodeId from, const wire::AdvertGet& get);
  void on(NodeId from, const wire::AdvertChunk& chunk);

  // membership_view.cc
  void learn(const std::vector<wire::Update>& updates, Via via);
  void learn(const wire::Update& update, Via via);
  void learn_of_self(const wire::Update& update);
  void learn_advert(const MemberRecord& member, const wire::Update& update);
  void learn_alive(const MemberRecord& member, const wire::Update& update);
  void learn_state(const MemberRecord& member, const wire::Update& update);
  void join(const wire::Update& update);
  const MemberRecord& add(const LifeRef& life, std::uint64_t refutation, std::uint64_t advert);
  void refute(const Numbers& told);
  void set_refused(const MemberRecord& member, bool refused);
  void forget_old();

  void begin(MonoTime now) { shared_.now = now; }
  void finish();
  void gossip_tick();
  void sync_with_somebody();
  void sync_tick();
  void note(std::string text) { shared_.outputs.push_back(MemberNote{std::move(text)}); }

  Shared shared_;
  Prober prober_;
  Syncer syncer_;
  Adverts adverts_;
  Joiner joiner_;
  MonoTime gossip_at_ = kNever;
  MonoTime last_gossip_{};
  MonoTime sync_at_ = kNever;
  MonoTime next_timer_ = kNever;
  Incarnation highest_seen_ = 0;  // of ourselves, told by others
  bool full_ = false;
  bool ready_ = false;
  bool left_ = false;
};

}  // namespace headrace
