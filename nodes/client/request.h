// One call of a client under way: what to send, and whom to tell.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/wire/frame.h"
#include "core/wire/job.h"

namespace headrace::client {

using Steady = std::chrono::steady_clock;

struct Request {
  // Appends the call's message.
  using Encode = std::function<void(Bytes& out, std::uint64_t call, bool repeat,
                                    const wire::PayloadRef& payload)>;
  // Runs once, on the client's thread: the reply's body, or why there is none.
  using Done = std::function<void(Result<Bytes> body)>;

  wire::Lane lane = wire::Lane::kControl;
  Encode encode;
  Done done;
  Bytes payload{};
  Steady::time_point deadline = Steady::time_point::max();
  Millis patience{0};           // what the node may take before it answers
  bool repeatable = true;       // asking twice does no harm
  std::optional<JobId> adds{};  // unanswered, its outcome is unknown
};

}  // namespace headrace::client
