// JSON at the program's edge, both ways. Ids are 32 hex digits, times RFC 3339; keys keep the order
// in which they are documented.
//
// What JSON has no form for becomes an object: bytes {"$bytes": base64}, an extension
// {"$ext": type, "$bytes": base64}. A double that is no number becomes null.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/job/job.h"
#include "core/value/value.h"
#include "nodes/client/client.h"

namespace headrace::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Value& value);
Json to_json(const ParamSet& params);
Json to_json(const JobInfo& info);
Json to_json(const Member& member);
Json to_json(const ClientEvent& event);

// kInvalid says what is wrong and where. An integer outside of 64 bits is refused, not rounded.
Result<Value> parse_json(std::string_view text);

// Without line breaks, however long.
std::string line(const Json& json);

std::string base64(BytesView bytes);

}  // namespace headrace::cli
