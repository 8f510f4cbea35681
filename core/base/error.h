// The one vocabulary of failures. Every call that can fail returns Result<T>; nothing throws.
//
// An Error holds a code from the registry below and a sentence that says what was wrong, with which value, and
// what to do about it. The sentence is for people; programs look at the code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace headrace {

// Append only: the numbers are part of the wire and of the Python API.
enum class Code : std::uint8_t {
  kInvalid = 1,         // an argument or a message breaks a rule
  kTimeout = 2,         // not done in the time given; nothing was changed
  kNotFound = 3,        // no such job, node, registration
  kFull = 4,            // a limit is reached; try again later
  kUnreachable = 5,     // nobody answers at that address
  kOutcomeUnknown = 6,  // stored or not, nobody knows: repeat with the same id
  kClosed = 7,          // the node, client or handle is closed
  kInUse = 8,           // somebody else holds the port or the data directory
  kNoStore = 9,         // needs a data directory or an owner, and has neither
  kStore = 10,          // the disk or the database failed
  kForbidden = 11,      // not allowed
  kProtocol = 12,       // a peer broke the protocol
  kJobFailed = 13,      // the job ended, but not in success
  kInternal = 14,       // a fault of Headrace's own
};

// "Invalid", "Timeout", ...; "Unknown" for a number outside the registry.
std::string_view code_name(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace headrace
