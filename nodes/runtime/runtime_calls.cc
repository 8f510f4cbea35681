// What the facade asks of a node's jobs.
#include <algorithm>
#include <future>
#include <utility>

#include "core/base/limits.h"
#include "core/topic/topic_pattern.h"
#include "core/value/value_codec.h"
#include "nodes/runtime/interrupt.h"
#include "nodes/runtime/runtime.h"

namespace headrace::runtime {

namespace {

constexpr Millis kRound{10'000};         // of a wait for a job's end
constexpr Millis kRoundAgain{100};       // after one that came back for another reason
constexpr Millis kAsyncTimeout{30'000};  // for an answer from another node

tl::unexpected<Error> closed() { return fail(Code::kClosed, "the node is closed"); }

tl::unexpected<Error> interrupted_call(bool adds) {
  return fail(adds ? Code::kOutcomeUnknown : Code::kTimeout, "the wait was interrupted");
}

// An info may come as a list of one: that is how another node sends it.
Result<JobInfo> to_info(Result<Answer> answer) {
  if (!answer) return fail(answer.error());
  if (auto* info = std::get_if<JobInfo>(&*answer)) return std::move(*info);
  auto* infos = std::get_if<std::vector<JobInfo>>(&*answer);
  if (infos != nullptr && infos->size() == 1) return std::move(infos->front());
  return fail(Code::kProtocol, "the owner's answer is about no job");
}

}  // namespace

Result<job::NewJob> to_new_job(JobSpec spec) {
  if (spec.priority < 0 || spec.priority > 9) {
    return fail(Code::kInvalid, "priority " + std::to_string(spec.priority) + ": give 0 to 9");
  }
  auto params = encode(spec.params);
  if (!params) return fail(params.error());
  job::NewJob job;
  job.id = spec.id;
  job.topic = std::move(spec.topic);
  job.priority = static_cast<std::uint8_t>(spec.priority);
  job.not_before = spec.not_before;
  job.max_attempts = spec.max_attempts;
  job.level = spec.level;
  job.params = std::move(*params);
  job.payload = std::move(spec.payload);
  if (auto good = job::check_new(job); !good) return fail(good.error());
  return job;
}

std::size_t bytes_of(const job::NewJob& job) {
  return sizeof(job::NewJob) + job.topic.size() + job.params.size() + job.payload.size();
}

Result<Answer> Runtime::ask(std::size_t bytes, bool adds, MonoTime deadline, BeginCall begin) {
  if (auto place = places_.take(bytes, deadline); !place) return fail(place.error());
  // Shared, since the loop may still be leaving set_value() when the caller has the answer.
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  auto future = promise->get_future();
  Waiter waiter;
  waiter.callback = [promise](Result<Answer> answer) { promise->set_value(std::move(answer)); };
  waiter.adds = adds;
  const bool begun = loop_->call(std::move(waiter), std::move(begin));
  Result<Answer> answer = closed();
  if (begun) answer = wait_for(future) ? future.get() : interrupted_call(adds);
  places_.give_back(1, bytes);
  return answer;
}

Result<std::vector<JobId>> Runtime::add(std::vector<job::NewJob> jobs, Millis timeout,
                                        Level& level) {
  const auto deadline = deadline_after(mono_now(), timeout);
  std::size_t bytes = 0;
  for (const auto& job : jobs) bytes += bytes_of(job);
  // An id from the caller says that this may be a repetition.
  const bool look_up =
      std::any_of(jobs.begin(), jobs.end(), [](const auto& job) { return job.id.has_value(); });
  auto shared = std::make_shared<std::vector<job::NewJob>>(std::move(jobs));
  auto answer = ask(bytes, true, deadline,
                    [shared, deadline, look_up](Peer& peer, const job::Now& now, CallNumber call) {
                      peer.add_jobs(now, call, std::move(*shared), deadline, look_up);
                    });
  if (!answer) return fail(answer.error());
  auto* added = std::get_if<Added>(&*answer);
  if (added == nullptr) return fail(Code::kProtocol, "the owner's answer is about no add");
  level = added->level;
  return std::move(added->ids);
}

Result<void> Runtime::add_async(job::NewJob job, std::function<void(Result<JobHandle>)> done) {
  if (in_callback()) {
    return fail(
        Code::kInvalid,
        "add_async may wait for other callbacks to end, so no callback may call it; use add");
  }
  const auto bytes = bytes_of(job);
  if (auto place = places_.take(bytes, kNever); !place) return place;
  const bool look_up = job.id.has_value();
  // With a store of its own the node always knows in the end.
  const auto deadline = setup_.keeps() ? kNever : mono_now() + kAsyncTimeout;
  Waiter waiter;
  waiter.callback = [weak = weak_from_this(), done = std::move(done)](Result<Answer> answer) {
    if (!answer) return done(fail(answer.error()));
    const auto* added = std::get_if<Added>(&*answer);
    if (added == nullptr || added->ids.size() != 1) {
      return done(fail(Code::kProtocol, "the owner's answer is about no add"));
    }
    done(JobHandle(weak.lock(), added->ids.front(), added->level));
  };
  waiter.on_worker = true;
  waiter.bytes = bytes;
  waiter.adds = true;
  std::vector<job::NewJob> jobs;
  jobs.push_back(std::move(job));
  const bool begun =
      loop_->call(std::move(waiter), [jobs = std::move(jobs), deadline, look_up](
                                         Peer& peer, const job::Now& now, CallNumber call) mutable {
        peer.add_jobs(now, call, std::move(jobs), deadline, look_up);
      });
  if (begun) return {};
  places_.give_back(1, bytes);
  return closed();
}

Result<JobInfo> Runtime::ask_info(MonoTime deadline, BeginCall begin) {
  return to_info(ask(0, false, deadline, std::move(begin)));
}

Result<JobInfo> Runtime::get(const JobId& id, Millis timeout) {
  const auto deadline = deadline_after(mono_now(), timeout);
  return ask_info(deadline, [id, deadline](Peer& peer, const job::Now& now, CallNumber call) {
    peer.get_job(now, call, id, deadline);
  });
}

Result<std::vector<JobInfo>> Runtime::find(JobFilter filter, Millis timeout) {
  if (!filter.topic.empty()) {
    if (auto topic = TopicPattern::parse(filter.topic); !topic) return fail(topic.error());
  }
  if (filter.limit > limits::kFindLimit) {
    return fail(Code::kInvalid, "limit " + std::to_string(filter.limit) + ": at most " +
                                    std::to_string(limits::kFindLimit) + " jobs come at a time");
  }
  const auto deadline = deadline_after(mono_now(), timeout);
  auto answer =
      ask(0, false, deadline,
          [filter = std::move(filter), deadline](Peer& peer, const job::Now& now, CallNumber call) {
            peer.find_jobs(now, call, filter, deadline);
          });
  if (!answer) return fail(answer.error());
  auto* infos = std::get_if<std::vector<JobInfo>>(&*answer);
  if (infos == nullptr) return fail(Code::kProtocol, "the owner's answer is no list of jobs");
  return std::move(*infos);
}

// In rounds, so that it outlives the owner's restart and a failure of the store.
Result<JobInfo> Runtime::wait(const JobId& id, std::optional<Millis> timeout) {
  const auto deadline = timeout ? deadline_after(mono_now(), *timeout) : kNever;
  for (;;) {
    const auto round = std::min(deadline, mono_now() + kRound);
    auto info = ask_info(round, [id, round](Peer& peer, const job::Now& now, CallNumber call) {
      peer.wait_job(now, call, id, round);
    });
    if (info && is_terminal(info->state)) return info;
    const auto code = info ? Code::kTimeout : info.error().code;
    const bool may_change =
        code == Code::kTimeout || code == Code::kUnreachable || code == Code::kStore;
    if (!may_change) return info;
    if (interrupted()) return interrupted_call(false);
    if (mono_now() >= deadline) {
      if (!info) return fail(Code::kTimeout, info.error().message);
      return fail(Code::kTimeout, "job " + id.hex() + " has not ended in time");
    }
    if (code != Code::kTimeout) board_.pause(kRoundAgain);
  }
}

Result<std::shared_ptr<ConsumerHandle>> Runtime::consume(job::ConsumerConfig config,
                                                         Handler handler) {
  if (board_.closed()) return closed();
  auto threads = jobs_.reserve(config.parallel);
  if (!threads) return fail(threads.error());
  const auto key = ++last_consumer_;
  auto entry = std::make_shared<const ConsumerEntry>(
      ConsumerEntry{key, std::move(config), std::move(handler), std::move(*threads)});
  auto handle = std::make_shared<ConsumerHandle>();
  handle->runtime = weak_from_this();
  handle->key = key;
  if (!loop_->post([entry](Loop& loop) { loop.add_consumer(entry); })) return closed();
  return handle;
}

void Runtime::stop_consumer(std::uint64_t key) {
  loop_->post([key](Loop& loop) { loop.stop_consumer(key); });
}

void ConsumerHandle::stop() {
  if (std::exchange(stopped, true)) return;
  if (const auto alive = runtime.lock()) alive->stop_consumer(key);
}

}  // namespace headrace::runtime
