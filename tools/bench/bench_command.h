// `headrace bench`: measures Headrace on this machine, and what the machine could do.
#pragma once

#include "tools/cli/command.h"

namespace headrace::bench {

// As every command of the program. Starts processes, so call it before there is any thread.
int run_bench(const cli::Arguments& arguments);

}  // namespace headrace::bench
