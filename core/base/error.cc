#include "core/base/error.h"

namespace headrace {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kInvalid: return "Invalid";
    case Code::kTimeout: return "Timeout";
    case Code::kNotFound: return "NotFound";
    case Code::kFull: return "Full";
    case Code::kUnreachable: return "Unreachable";
    case Code::kOutcomeUnknown: return "OutcomeUnknown";
    case Code::kClosed: return "Closed";
    case Code::kInUse: return "InUse";
    case Code::kNoStore: return "NoStore";
    case Code::kStore: return "Store";
    case Code::kForbidden: return "Forbidden";
    case Code::kProtocol: return "Protocol";
    case Code::kJobFailed: return "JobFailed";
    case Code::kInternal: return "Internal";
  }
  return "Unknown";
}

}  // namespace headrace
