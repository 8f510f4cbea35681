// What a measurement shows: a bar while it runs, then a table or JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/bench/process.h"
#include "tools/cli/options.h"

namespace headrace::bench {

// A bar on standard error, redrawn in place; where that is no terminal, one line for each thing
// that is measured. Nothing if JSON was asked for.
Progress progress_for(const cli::Options& options);

// One JSON object, or a table of its members.
void print_report(const cli::Options& options, const nlohmann::json& report);

}  // namespace headrace::bench
