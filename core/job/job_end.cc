// How jobs end, and how their runners hear of it.
#include <algorithm>

#include "core/base/limits.h"
#include "core/job/job_owner.h"
#include "core/store/keys.h"

namespace headrace::job {
namespace {

constexpr std::size_t kRemembered = 50'000;      // ends whose token memory knows
constexpr std::size_t kUnstoredKept = 10'000;    // ended jobs of level memory

}  // namespace

void JobOwner::on_done(const Now& now, const NodeId& from, Incarnation, const wire::JobDone& done) {
  const auto at = active_.find(done.job_number);
  if (at != active_.end() && at->second.dispatch.token == done.token && at->second.dispatch.consumer == from) {
    Active active = std::move(at->second);
    active_.erase(at);
    end_flight(active);
    heard(now, {from, active.dispatch.consumer_number});
    if (active.recovered) recovered_[from].erase(done.job_number);
    JobPtr job = std::move(active.job);
    job->deliveries = active.dispatch.deliveries;
    job->consumer = from;
    job->started = active.dispatch.started;
    job->answered = done.token;
    remember(*job);
    if (job->stored()) host_.batch(job->level).erase(keys::active(job->number));
    answer(from, done.token, true, after(job->level));
    switch (static_cast<JobEnd::Kind>(done.end)) {
      case JobEnd::Kind::kOk:
        job->result = done.result;
        return finish(now, std::move(job), JobState::kSucceeded);
      case JobEnd::Kind::kCancel:
        job->error = done.error;
        ++job->attempts;
        return finish(now, std::move(job), JobState::kError);
      case JobEnd::Kind::kFail: return failed(now, std::move(job), done);
    }
  }
  if (const auto known = answered_.find(done.job_number); known != answered_.end()) {
    // Newer dispatches replace the token: only the last accepted one gets its answer again.
    const bool accepted = known->second == done.token;
    if (!accepted) ++counts_.refused_completions;
    return answer(from, done.token, accepted, After::kDisk);
  }
  // It may have been answered before this start, or long ago.
  host_.read([this, from, token = done.token, number = done.job_number](const Snapshot& snapshot) -> Continuation {
    const auto found = read_job(snapshot, number);
    const bool accepted = found && *found && (*found)->job.answered == token;
    return [this, from, token, accepted](const Now&) {
      if (!accepted) ++counts_.refused_completions;
      answer(from, token, accepted, After::kNothing);
    };
  });
}

// A word of a consumer renews the leases of all that it holds.
void JobOwner::heard(const Now& now, const ConsumerKey& key) {
  const auto at = consumers_.find(key);
  if (at == consumers_.end()) return;
  at->second.heard = now.mono;
  at->second.silent = false;
  at->second.window.on_heard();
}

void JobOwner::end_flight(const Active& active) {
  const auto at = consumers_.find({active.dispatch.consumer, active.dispatch.consumer_number});
  if (at == consumers_.end() || active.recovered) return;
  at->second.window.end_flight(active.item);
}

void JobOwner::failed(const Now& now, JobPtr job, const wire::JobDone& done) {
  ++job->attempts;
  job->error = done.error;
  job->errors.emplace_back(done.error);
  if (job->errors.size() > limits::kErrorsKept) job->errors.erase(job->errors.begin());
  if (job->attempts >= job->max_attempts) return finish(now, std::move(job), JobState::kGivenUp);
  const Millis pause = done.retry_after.value_or(backoff(job->attempts, random_.unit()));
  job->due = now.wall + pause;
  if (job->stored()) write_job(*job);
  delay(std::move(job));
}

void JobOwner::finish(const Now& now, JobPtr job, JobState state) {
  job->state = state;
  job->finished = now.wall;
  job->due.reset();
  if (job->foreign_id) foreign_old_.emplace_back(now.mono, job->id);
  host_.ended(*job);
  if (job->stored()) {
    host_.batch(job->level).erase(keys::active(job->number));
    write_job(*job);
    history_.add(*job);
    return;
  }
  job->payload = {};
  unstored_.erase(job->number);
  unstored_bytes_ -= job->payload_bytes + job->params.size();
  unstored_order_.push_back(job->number);
  const auto number = job->number;
  unstored_ended_.emplace(number, std::move(job));
  if (unstored_order_.size() <= kUnstoredKept) return;
  unstored_ended_.erase(unstored_order_.front());
  unstored_order_.pop_front();
}

void JobOwner::remember(const Job& job) {
  if (!answered_.insert_or_assign(job.number, job.answered).second) return;
  answered_order_.push_back(job.number);
  if (answered_order_.size() <= kRemembered) return;
  answered_.erase(answered_order_.front());
  answered_order_.pop_front();
}

void JobOwner::answer(const NodeId& to, const wire::Token& token, bool accepted, After after) {
  auto& ack = answers_[{to, token.life, after}];
  ack.life = token.life;
  (accepted ? ack.accepted : ack.refused).push_back(token.number);
}

void JobOwner::flush_answers() {
  for (const auto& [key, ack] : answers_) {
    Bytes message;
    wire::encode(message, ack);
    host_.send(key.to, wire::Lane::kControl, std::move(message), key.after);
  }
  answers_.clear();
}

}  // namespace headrace::job
