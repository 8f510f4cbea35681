// What every command of the program `headrace` is to the program, and what commands share in how
// they end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace headrace::cli {

enum Exit : int {
  kDone = 0,
  kFailure = 1,
  kUsage = 2,
  kNotInTime = 3,  // job add --wait: the job has not ended
};

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;                // one line of `headrace --help`
  int (*run)(const Arguments& arguments);  // what follows the name; the exit code
};

// One line on stderr. For usage it also names the help to look at: `command` is empty or the words
// that lead to the command, as in "job add".
int usage_error(std::string_view command, std::string_view message);
int failure(const Error& error);

// Runs the command that the first argument names. `path`: the words before, empty or "job".
int dispatch(std::string_view path, std::string_view summary, const std::vector<Command>& commands,
             const Arguments& arguments);

void print_version();

}  // namespace headrace::cli
