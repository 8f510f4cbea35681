#include "nodes/runtime/calls.h"

#include <utility>

namespace headrace::runtime {

CallNumber Calls::open(Waiter waiter) {
  if (waiter.adds) ++adds_;
  waiting_.emplace(++last_, std::move(waiter));
  return last_;
}

void Calls::answer(CallNumber call, Result<Answer> answer) {
  const auto found = waiting_.find(call);
  if (found == waiting_.end()) return;
  auto waiter = std::move(found->second);
  waiting_.erase(found);
  if (waiter.adds) --adds_;
  this->answer(std::move(waiter), std::move(answer));
}

void Calls::answer(Waiter waiter, Result<Answer> answer) {
  if (!waiter.on_worker) return waiter.callback(std::move(answer));
  for_workers_.push_back({std::move(waiter.callback), std::move(answer), waiter.bytes});
}

void Calls::answer_all(const Error& error) {
  adds_ = 0;
  for (auto& [call, waiter] : std::exchange(waiting_, {})) answer(std::move(waiter), fail(error));
}

}  // namespace headrace::runtime
