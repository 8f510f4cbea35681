// Who to say hello to: seeds and remembered peers until they answer and again when they are lost,
// dead members now and then, and whoever is heard of but not known. Never gives up on a seed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/member/shared.h"

namespace headrace {

class Joiner final {
 public:
  Joiner(Shared& shared, const std::vector<std::string>& seeds,
         const std::vector<std::string>& remembered);

  void start();
  void tick();

  // To an address that is not dialled anyway: of a member believed dead, or of a stranger. Limited
  // in rate.
  void hello(const std::string& endpoint, const MemberRecord* expected);
  // An answer to hello number `round` came from that member.
  void answered(std::uint64_t round, NodeId from);
  // Hello number `round` reached ourselves: that address is our own.
  void was_self(std::uint64_t round);
  void synced(NodeId with);
  void lost(NodeId member);

  // A seed has answered, but its view is not here yet.
  bool waits_for_sync(NodeId member) const;
  // One of those, other than `except`.
  std::optional<NodeId> next_to_sync(NodeId except = {}) const;
  // See Membership::ready(); adverts apart.
  bool settled() const;

  MonoTime next() const;
  void shift(Nanos by);
  void stop();
  // Addresses that were greeted and gave no answer yet.
  std::vector<std::string> unanswered() const;

 private:
  struct Contact {
    std::string endpoint;
    bool seed = false;
    bool self = false;
    NodeId id{};              // who answered last; zero before
    std::uint64_t round = 0;  // of the hello under way
    unsigned attempts = 0;    // since it answered last
    bool tried = false;       // gave no answer in time once, or did answer and was synced
    bool synced = false;
    MonoTime next_at = kNever;  // kNever while it is a live member
  };

  std::uint64_t say_hello(const std::string& endpoint, const MemberRecord* expected);
  void dial(Contact& contact);
  void reconnect();

  Shared& shared_;
  std::uint64_t last_round_;
  std::vector<Contact> contacts_;
  std::map<std::string, MonoTime> dialled_;  // by hello(), lately
  MonoTime reconnect_at_ = kNever;
};

}  // namespace headrace
