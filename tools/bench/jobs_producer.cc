#include "tools/bench/jobs_producer.h"

#include "nodes/client/client.h"

namespace headrace::bench {
namespace {

constexpr Millis kAnswer{60'000};  // for an add's answer; a slow disk may be very slow

class Embedded final : public Producer {
 public:
  explicit Embedded(Node& owner) : owner_(owner) {}

  Result<void> add_async(JobSpec spec, std::function<void(Result<JobId>)> done) override {
    return owner_.jobs().add_async(
        std::move(spec), [done = std::move(done)](Result<JobHandle> handle) {
          done(handle ? Result<JobId>(handle->id()) : fail(handle.error()));
        });
  }

  Result<void> run(JobSpec spec, Millis timeout) override {
    auto handle = owner_.jobs().add(std::move(spec), timeout);
    if (!handle) return fail(handle.error());
    auto result = handle->result(timeout);
    if (!result) return fail(result.error());
    return {};
  }

  Result<std::vector<JobInfo>> find(const JobFilter& filter) override {
    return owner_.jobs().find(filter, kAnswer);
  }

 private:
  Node& owner_;
};

class Remote final : public Producer {
 public:
  explicit Remote(Client client) : client_(std::move(client)) {}

  Result<void> add_async(JobSpec spec, std::function<void(Result<JobId>)> done) override {
    return client_.add_async(std::move(spec), std::move(done), kAnswer);
  }

  Result<void> run(JobSpec spec, Millis timeout) override {
    auto id = client_.add(std::move(spec), timeout);
    if (!id) return fail(id.error());
    auto info = client_.wait(*id, timeout);
    if (!info) return fail(info.error());
    if (info->state == JobState::kSucceeded) return {};
    return fail(Code::kJobFailed, "a job ended " + std::string(to_string(info->state)));
  }

  Result<std::vector<JobInfo>> find(const JobFilter& filter) override {
    return client_.find(filter, kAnswer);
  }

 private:
  Client client_;
};

}  // namespace

std::unique_ptr<Producer> producer_of(Node& owner) { return std::make_unique<Embedded>(owner); }

Result<std::unique_ptr<Producer>> producer_at(const std::string& endpoint) {
  ClientOptions options;
  options.endpoint = endpoint;
  auto client = Client::connect(std::move(options));
  if (!client) return fail(client.error());
  return std::make_unique<Remote>(std::move(*client));
}

Result<void> Pipeline::add(JobSpec spec) {
  if (auto room = await_pending(window_ - 1); !room) return room;
  {
    const std::lock_guard lock(mutex_);
    ++pending_;
  }
  auto sent = producer_.add_async(std::move(spec), [this](Result<JobId> id) { take(id); });
  if (sent) return {};
  const std::lock_guard lock(mutex_);
  --pending_;
  return sent;
}

Result<void> Pipeline::finish() { return await_pending(0); }

std::uint64_t Pipeline::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

Result<void> Pipeline::await_pending(std::uint32_t most) {
  std::unique_lock lock(mutex_);
  if (pending_ > most) {
    // Being woken for each answer would cost more than the answer.
    awaited_ = most / 2;
    waiting_ = true;
    const bool came = changed_.wait_for(lock, kAnswer, [this] { return pending_ <= awaited_; });
    waiting_ = false;
    if (!came) return fail(Code::kTimeout, std::to_string(pending_) + " adds got no answer");
  }
  if (failure_) return fail(*failure_);
  return {};
}

void Pipeline::take(const Result<JobId>& answer) {
  const std::lock_guard lock(mutex_);
  --pending_;
  answered_ += answer ? 1 : 0;
  if (!answer && !failure_) failure_ = answer.error();
  // Under the lock: as soon as it is free, finish() may return and the Pipeline end.
  if (waiting_ && pending_ <= awaited_) changed_.notify_one();
}

}  // namespace headrace::bench
