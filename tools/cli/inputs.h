// What commands take from their arguments beyond plain options: parameters and payloads.
#pragma once

#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/value/params.h"

namespace headrace::cli {

// Each KEY=TEXT or KEY:=JSON. kInvalid names the argument and what is wrong; two of one key too.
Result<ParamSet> parse_params(const std::vector<std::string>& arguments);

// The whole of a file, or of standard input for "-". kInvalid if it cannot be read or has more than
// `most` bytes.
Result<Bytes> read_payload(const std::string& file, std::size_t most);

}  // namespace headrace::cli
