// The one output rule: an action leaves when the commit that it depends on has reached its level.
//
// Owned by Peer. Actions that wait for the same level leave in order. Messages on one node's data lane never overtake
// each other, whatever they wait for: numbers of a window that come late count as lost.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "core/peer/actions.h"

namespace headrace {

class CommitGate final {
 public:
  // `commit`: of the turn's batch, or the last one's if the turn wrote nothing.
  void add(Action action, job::After after, CommitNumber commit);
  void reached(CommitNumber written, CommitNumber synced);
  // Nothing leaves before this commit is synced, whatever it waits for. For the first one of a node with a store: what
  // was found may never have been synced, and numbers given after it must not be given again.
  void hold_until_synced(CommitNumber commit) { opening_ = commit; }
  // `node` is another process from now on, or gone: what waits was meant for the one before.
  void forget_mail(const NodeId& node);
  // Moves what may leave to the end of `out`.
  void release(std::vector<Action>& out);
  // The store has failed: the answers to calls that wait for it, turned into what is known of them. Empties the gate.
  std::vector<AnswerCall> abandon(const Error& why);

 private:
  struct Waiting {
    CommitNumber commit = 0;
    Action action;
  };
  struct LaneTail {
    CommitNumber commit = 0;
    bool disk = false;
  };
  bool done(CommitNumber commit, bool disk) const { return commit <= (disk ? synced_ : written_); }

  CommitNumber written_ = 0;
  CommitNumber synced_ = 0;
  CommitNumber opening_ = 0;
  std::vector<Action> free_;
  std::deque<Waiting> for_write_;
  std::deque<Waiting> for_sync_;
  std::map<NodeId, LaneTail> tails_;  // data lanes with something waiting
};

// What is told of an add that nobody knows the outcome of.
Error unknown_outcome(const std::vector<JobId>& ids, const std::string& why);

}  // namespace headrace
