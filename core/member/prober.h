// Probes: one member after another in a shuffled round, so that each is reached within two rounds;
// first directly, then through others that answer with an ack or say that they got none (nack).
// Also probes for others.
//
// Tells its owner who did not answer; what follows from that is the owner's.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/member/shared.h"

namespace headrace {

class Prober final {
 public:
  explicit Prober(Shared& shared) : shared_(shared), last_seq_(shared.first_number()) {}

  void start();
  // Takes its place at random in the round that goes on.
  void member_added(const MemberRecord& member);
  // Is about to be removed from the table.
  void member_removed(const MemberRecord& member);
  struct Failed {
    NodeId id;
    Numbers numbers;  // of the life that was probed
  };
  // Starts, asks helpers and ends what is due. Returns who answered neither us nor a helper.
  std::vector<Failed> tick();

  // Out of turn, because somebody says that it is dead and it may say otherwise: it is told the
  // accusation.
  void check(const wire::Update& accusation);
  // Out of turn, and helpers are asked at once: its address refuses us.
  void check_indirectly(NodeId id);

  void answered(NodeId from, std::uint64_t seq);
  struct RoundTrip {
    NodeId member;
    Nanos took{};
  };
  // Of the newest ping, once its ack came. Nothing in the protocol uses it.
  std::optional<RoundTrip> take_round_trip() { return std::exchange(measured_, {}); }
  // A sign of life other than an ack. True if it answers a probe.
  bool heard(NodeId id);
  void nacked(std::uint64_t seq);
  void relay(NodeId from, const wire::PingRequest& request);

  MonoTime next() const;
  void shift(Nanos by);
  void stop();

 private:
  struct Probe {
    NodeId target;
    Numbers numbers;
    MonoTime indirect_at;  // kNever once helpers are asked
    MonoTime fail_at;
    unsigned helpers = 0;
    unsigned nacks = 0;
  };
  struct Relay {
    NodeId origin;
    std::string origin_endpoint;
    std::uint64_t origin_seq = 0;
    NodeId target;
    MonoTime nack_at;  // kNever once it was sent
    MonoTime ends_at;
  };

  const MemberRecord* next_target();
  bool probing(NodeId id) const;
  void begin(const MemberRecord& target, const std::optional<wire::Update>& accusation,
             bool direct);
  void ask_helpers(std::uint64_t seq, Probe& probe);
  void begin_waiting();
  void tick_relays();
  void succeed(std::map<std::uint64_t, Probe>::iterator at);

  Shared& shared_;
  std::vector<MemberTable::Place> round_;  // of each member that has in_round
  std::size_t next_in_round_ = 0;
  MonoTime next_round_ = kNever;
  std::uint64_t last_seq_;
  std::map<std::uint64_t, Probe> probes_;
  // The newest ping, beside its probe: any sign of life ends that, only the ack tells the round
  // trip.
  struct {
    std::uint64_t seq = 0;
    NodeId target;
    MonoTime sent_at{};
  } newest_;
  std::optional<RoundTrip> measured_;
  std::map<NodeId, wire::Update> waiting_;  // checks beyond what runs at a time
  std::map<std::uint64_t, Relay> relays_;
};

}  // namespace headrace
