// Values and parameters to msgpack and back: how they travel and lie on disk.
//
// A timestamp is msgpack's extension -1, to the microsecond (finer ones that arrive are rounded
// down). A float32 that arrives is a double. An empty ParamSet is no bytes at all, so that an event
// without parameters costs nothing for them.
//
// Limits, both ways (core/base/limits.h): kValueDepth containers in one another, kValueElements in
// one of them, kParamNameBytes a name, kParamsBytes in all. Text and names must be UTF-8, names
// must not repeat. Nothing throws; an error names the place, as in `params.size.x` or `value.3`.
// Memory that decoding takes is bounded by the bytes that really arrived, whatever counts they
// claim. Pure functions; any thread.
#pragma once

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/value/params.h"
#include "core/value/value.h"

namespace headrace {

// kInvalid if it breaks a limit.
Result<Bytes> encode(const ParamSet& params);
Result<Bytes> encode(const Value& value);

// kProtocol if the bytes are not exactly one such value within the limits.
Result<ParamSet> decode_params(BytesView bytes);
Result<Value> decode_value(BytesView bytes);

}  // namespace headrace
