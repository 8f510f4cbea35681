// MemberWorld: members of one cluster on a virtual network, in virtual time, one thread, one seed.
//
// A member here is a Membership and nothing else: no jobs, no events, no sockets, and no word of a
// refused connection, so a crash looks like that of a whole machine. Each has a generator of its
// own, and what a member decides depends on its inputs alone: the same setup and seed give the same
// trace hash everywhere. Members share their Lives, so that a world of ten thousand fits in memory.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <queue>
#include <vector>

#include "core/member/membership.h"
#include "tools/sim/members/network.h"
#include "tools/sim/members/watch.h"
#include "tools/sim/trace.h"

namespace headrace::sim {

struct MemberSetup {
  Place members = 1'000;
  std::uint64_t seed = 1;
  Profile profile = Profile::lan();
  std::ostream* trace = nullptr;
  std::function<void(std::chrono::seconds)> progress;  // virtual time, each second of it
};

class MemberWorld final {
 public:
  explicit MemberWorld(MemberSetup setup);
  MemberWorld(const MemberWorld&) = delete;
  MemberWorld& operator=(const MemberWorld&) = delete;

  Place size() const { return static_cast<Place>(slots_.size()); }
  const Profile& profile() const { return setup_.profile; }
  MonoTime now() const { return now_; }

  // Everybody is up and knows everybody.
  void form();
  // A new life of one that is down. It knows the addresses of `seeds` and nothing else.
  void start(Place place, const std::vector<Place>& seeds);
  void crash(Place place);
  void leave(Place place);  // it goes on answering until crash()
  bool up(Place place) const { return slots_[place].membership != nullptr; }
  bool takes_part(Place place) const { return up(place) && !slots_[place].membership->left(); }
  Place up_count() const { return up_; }
  const Membership& operator[](Place place) const { return *slots_[place].membership; }
  NodeId id(Place place) const { return NodeId::from_halves(kIdsHigh + place, place); }
  Incarnation incarnation(Place place) const { return slots_[place].incarnation; }

  void run(Nanos time) { run_to(now_ + time); }
  // Looks at the condition each 50 ms, at most for `within`. Says whether it came true.
  bool run_until(Nanos within, const std::function<bool()>& condition);
  // All that are up and have not left know each other, with the same numbers, and nobody else.
  bool agreed() const;

  MemberNetwork network;
  MemberWatch watch;
  Random random;  // the scenario's choices
  std::uint64_t hash() const { return trace_.hash(); }

 private:
  static constexpr std::uint64_t kIdsHigh = 0x5EED000000000000ULL;
  static constexpr std::uint32_t kTimer = UINT32_MAX;

  struct Slot {
    explicit Slot(std::uint64_t seed) : random(seed) {}
    std::unique_ptr<Membership> membership;  // null while it is down
    Random random;
    Incarnation incarnation = 0;
    MonoTime timer_at = kNever;  // of the timer event that counts
  };
  struct Event {
    MonoTime at;
    std::uint64_t said;
    Place place;
    std::uint32_t mail;  // in mails_, or kTimer
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : said > other.said;
    }
  };
  struct Mail {
    Place from = 0;
    NodeId to;
    Incarnation incarnation = 0;  // of the sender
    Bytes message;
  };

  MembershipOptions options(Place place, const std::vector<Place>& seeds);
  void run_to(MonoTime until);
  void handle(const Event& event);
  void deliver(Place place, std::uint32_t number);
  void drain(Place place);
  void send(Place from, SendMember mail);
  void push(MonoTime at, Place place, std::uint32_t mail) {
    events_.push({at, ++said_, place, mail});
  }

  MemberSetup setup_;
  Trace trace_;
  Lives lives_;  // before all members
  std::vector<Slot> slots_;
  Place up_ = 0;
  MonoTime now_{std::chrono::seconds{1'000}};
  std::priority_queue<Event> events_;
  std::uint64_t said_ = 0;
  std::vector<Mail> mails_;
  std::vector<std::uint32_t> free_mails_;
};

}  // namespace headrace::sim
