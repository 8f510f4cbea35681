#include "core/job/job.h"

#include <array>

namespace headrace {
namespace {

constexpr std::array<std::string_view, 10> kStates = {
    "UNKNOWN", "QUEUED", "DELAYED", "ACTIVE", "SUCCEEDED", "STOPPED", "GIVEN_UP", "ERROR", "DROPPED", "EXPIRED"};
constexpr std::array<std::string_view, 3> kLevels = {"disk", "os", "memory"};

}  // namespace

std::string_view to_string(JobState state) {
  const auto number = static_cast<std::size_t>(state);
  return number < kStates.size() ? kStates[number] : kStates[0];
}

Result<JobState> parse_job_state(std::string_view text) {
  for (std::size_t i = 1; i < kStates.size(); ++i) {
    if (kStates[i] == text) return static_cast<JobState>(i);
  }
  return fail(Code::kInvalid, "'" + std::string(text.substr(0, 80)) +
                                  "' is no job state: use QUEUED, DELAYED, ACTIVE, SUCCEEDED, STOPPED, GIVEN_UP, "
                                  "ERROR, DROPPED or EXPIRED");
}

std::string_view to_string(Level level) { return kLevels.at(static_cast<std::size_t>(level)); }

Result<Level> parse_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == text) return static_cast<Level>(i);
  }
  return fail(Code::kInvalid,
              "'" + std::string(text.substr(0, 80)) + "' is no level: use disk, os or memory");
}

}  // namespace headrace
