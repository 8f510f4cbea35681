// How commands reach a running node.
#pragma once

#include "nodes/client/client.h"
#include "tools/cli/options.h"

namespace headrace::cli {

// The node that --node names.
Result<Client> reach(const Options& options);

// The exit code for an error of the library: what breaks a rule is a fault of usage.
int ended(const Options& options, const Error& error);

}  // namespace headrace::cli
