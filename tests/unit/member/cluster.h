// Many Memberships over a network that exists only in memory: one thread, virtual time, one seed.
// Messages are delayed, lost and cut off as the test says; a node crashes by being dropped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/member/membership.h"

namespace headrace::test {

class Cluster final {
 public:
  struct Node {
    NodeId id;
    Incarnation incarnation = 0;
    std::string endpoint;
    std::unique_ptr<Membership> membership;  // null while it is down
    std::vector<MemberOutput> events;        // all outputs but sends, since the last clear
    Bytes advert;                            // what it last stated

    Membership& operator*() const { return *membership; }
    Membership* operator->() const { return membership.get(); }
  };
  struct Options {
    bool has_store = true;
    Profile profile = Profile::lan();
    std::vector<std::size_t> seeds;
    std::vector<std::size_t> remembered;
    std::string endpoint;  // by default that of its place
  };

  explicit Cluster(std::uint64_t seed) : random_(seed), network_(seed + 1) {}

  // Starts node `place` in a new incarnation; places are numbered from 0.
  Node& start(std::size_t place) { return start(place, Options{}); }
  Node& start(std::size_t place, const Options& options);
  void crash(std::size_t place) { nodes_.at(place)->membership.reset(); }
  Node& operator[](std::size_t place) { return *nodes_.at(place); }
  std::size_t size() const { return nodes_.size(); }
  bool up(std::size_t place) const { return nodes_.at(place)->membership != nullptr; }
  void set_advert(std::size_t place, Bytes advert);
  void leave(std::size_t place);

  // Runs until `condition` holds after some input, or `within` has passed; says which.
  bool run_until(Nanos within, const std::function<bool()>& condition);
  void run(Nanos time) {
    run_until(time, [] { return false; });
  }
  // Every node that is up knows exactly those that are up as alive, with numbers and adverts as
  // they are.
  bool agreed() const;
  bool all_see(std::size_t place, MemberState state) const;
  std::size_t count(std::size_t place, const std::function<bool(const MemberOutput&)>& fits) const;
  std::size_t deaths_seen() const;  // changes to dead, in all events

  static std::string endpoint_of(std::size_t place) {
    return "tcp://10.0.0." + std::to_string(place);
  }

  MonoTime now{};
  double loss = 0;
  Nanos delay_min = Micros{200};
  Nanos delay_max = Millis{1};
  std::function<bool(std::size_t from, std::size_t to)> cut = [](auto, auto) { return false; };
  // Mail from and to a stalled node waits until that time.
  std::function<MonoTime(std::size_t place)> stalled_until = [](auto) { return MonoTime{}; };
  std::size_t sent = 0;
  std::map<std::uint64_t, std::size_t> sent_by_kind;
  std::size_t largest = 0;
  std::uint64_t trace = 0;  // over all that was delivered, when and where

 private:
  struct Mail {
    MonoTime at;
    std::uint64_t number;
    std::size_t from;
    NodeId sender;
    Incarnation incarnation;
    SendMember send;
    bool operator>(const Mail& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  void drain(std::size_t place);
  void deliver(Mail mail);
  MonoTime next() const;

  Random random_;
  Random network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::priority_queue<Mail, std::vector<Mail>, std::greater<>> mail_;
  std::uint64_t mails_ = 0;
};

Cluster::Options joins(std::vector<std::size_t> seeds);
// `size` nodes that joined through the first and agree; fails the test if they do not.
void form(Cluster& cluster, std::size_t size);

}  // namespace headrace::test
