// What a handler sees of its job, and what it makes of it.
#include <exception>
#include <string>
#include <utility>

#include "core/base/limits.h"
#include "core/value/value_codec.h"
#include "nodes/node.h"
#include "nodes/runtime/consumer_entry.h"

namespace headrace {

JobOutcome JobOutcome::ok(Value result) {
  JobEnd end;
  end.kind = JobEnd::Kind::kOk;
  if (result.is_nil()) return JobOutcome(std::move(end));
  auto bytes = encode(result);
  // The same handler would return the same again, so this is the end of it.
  if (!bytes) return cancel("its result cannot be kept: " + bytes.error().message);
  if (bytes->size() > limits::kResultBytes) {
    return cancel("its result has " + std::to_string(bytes->size()) + " bytes; at most " +
                  std::to_string(limits::kResultBytes) + " are kept");
  }
  end.result = std::move(*bytes);
  return JobOutcome(std::move(end));
}

JobOutcome JobOutcome::cancel(std::string why) {
  return JobOutcome({JobEnd::Kind::kCancel, {}, std::move(why), {}});
}

JobOutcome JobOutcome::fail(std::string why, std::optional<Millis> retry_after) {
  return JobOutcome({JobEnd::Kind::kFail, {}, std::move(why), retry_after});
}

JobId RunningJob::id() const { return state_.job->id; }
std::string_view RunningJob::topic() const { return state_.job->topic; }
BytesView RunningJob::payload() const { return state_.job->payload; }
unsigned RunningJob::attempt() const { return state_.job->attempt; }
unsigned RunningJob::deliveries() const { return state_.job->deliveries; }
std::shared_ptr<const void> RunningJob::hold() const { return state_.job; }
bool RunningJob::stopping() const { return state_.stopping.load(std::memory_order_relaxed); }

const ParamSet& RunningJob::params() const {
  if (!state_.params) {
    auto params = decode_params(state_.job->params);
    state_.unreadable = !params;
    state_.params = std::move(params).value_or(ParamSet{});
  }
  return *state_.params;
}

namespace runtime {

JobEnd run_handler(RunningJobState& state) {
  JobEnd end;
  try {
    RunningJob job(state);
    end = state.consumer->handler(job).end();
  } catch (const std::exception& error) {
    end = {JobEnd::Kind::kFail, {}, std::string("the handler threw: ") + error.what(), {}};
  } catch (...) {
    end = {JobEnd::Kind::kFail, {}, "the handler threw what is no std::exception", {}};
  }
  // A handler that was shown no parameters where there were some has not seen its job.
  if (state.unreadable) end = {JobEnd::Kind::kCancel, {}, "its parameters cannot be read", {}};
  return end;
}

}  // namespace runtime
}  // namespace headrace
