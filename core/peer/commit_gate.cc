#include "core/peer/commit_gate.h"

#include <algorithm>

namespace headrace {

void CommitGate::add(Action action, job::After after, CommitNumber commit) {
  if (synced_ < opening_) {
    after = job::After::kDisk;
    commit = std::max(commit, opening_);
  }
  LaneTail* tail = nullptr;
  bool disk = after == job::After::kDisk;
  bool waits = after >= job::After::kOs && !done(commit, disk);
  const auto* send = std::get_if<Send>(&action);
  if (send != nullptr && send->lane == wire::Lane::kData) {
    if (const auto last = tails_.find(send->to); last != tails_.end()) {
      if (done(last->second.commit, last->second.disk)) {
        tails_.erase(last);
      } else {
        disk = disk || last->second.disk;
        commit = waits ? std::max(commit, last->second.commit) : last->second.commit;
        waits = true;
      }
    }
    if (waits) tail = &tails_[send->to];
  }
  if (!waits) {
    free_.push_back(std::move(action));
    return;
  }
  auto& queue = disk ? for_sync_ : for_write_;
  if (!queue.empty()) commit = std::max(commit, queue.back().commit);
  if (tail != nullptr) *tail = {commit, disk};  // when it will really leave: behind all that waits before it
  queue.push_back({commit, std::move(action)});
}

void CommitGate::reached(CommitNumber written, CommitNumber synced) {
  written_ = std::max(written_, written);
  synced_ = std::max(synced_, synced);
}

void CommitGate::forget_mail(const NodeId& node) {
  for (auto* queue : {&for_write_, &for_sync_}) {
    std::erase_if(*queue, [&](const Waiting& waiting) {
      const auto* send = std::get_if<Send>(&waiting.action);
      return send != nullptr && send->to == node;
    });
  }
  tails_.erase(node);
}

void CommitGate::release(std::vector<Action>& out) {
  const auto pass = [&](std::deque<Waiting>& queue, bool disk) {
    while (!queue.empty() && done(queue.front().commit, disk)) {
      out.push_back(std::move(queue.front().action));
      queue.pop_front();
    }
  };
  pass(for_write_, false);
  pass(for_sync_, true);
  std::move(free_.begin(), free_.end(), std::back_inserter(out));
  free_.clear();
}

std::vector<AnswerCall> CommitGate::abandon(const Error& why) {
  std::vector<AnswerCall> answers;
  for (auto* queue : {&for_write_, &for_sync_}) {
    for (auto& waiting : *queue) {
      auto* call = std::get_if<AnswerCall>(&waiting.action);
      if (call == nullptr) continue;
      const auto* added = call->answer ? std::get_if<Added>(&*call->answer) : nullptr;
      call->answer = added == nullptr ? fail(why) : fail(unknown_outcome(added->ids, why.message));
      answers.push_back(std::move(*call));
    }
    queue->clear();
  }
  for (auto& action : free_) {  // waits for nothing: it stands as it is
    if (auto* call = std::get_if<AnswerCall>(&action)) answers.push_back(std::move(*call));
  }
  free_.clear();
  tails_.clear();
  return answers;
}

Error unknown_outcome(const std::vector<JobId>& ids, const std::string& why) {
  std::string list;
  for (std::size_t i = 0; i < ids.size() && i < 3; ++i) list += (i ? ", " : "") + ids[i].hex();
  if (ids.size() > 3) list += " and " + std::to_string(ids.size() - 3) + " more";
  return {Code::kOutcomeUnknown, why + ": whether job " + list +
                                     " is stored is unknown; add it again with that id, and it is the same job"};
}

}  // namespace headrace
