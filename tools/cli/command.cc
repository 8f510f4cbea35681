#include "tools/cli/command.h"

#include <algorithm>
#include <iostream>

#include "core/base/utf8.h"

namespace headrace::cli {
namespace {

std::string program(std::string_view path) {
  return path.empty() ? "headrace" : "headrace " + std::string(path);
}

void print_help(std::string_view path, std::string_view summary,
                const std::vector<Command>& commands) {
  std::cout << "usage: " << program(path) << " COMMAND [OPTION...]\n" << summary << "\n\n";
  std::size_t width = 0;
  for (const auto& command : commands) width = std::max(width, command.name.size());
  for (const auto& command : commands) {
    std::cout << "  " << command.name << std::string(width + 2 - command.name.size(), ' ')
              << command.summary << '\n';
  }
  std::cout << "\nEach command takes --help, --version and --json.\n";
}

}  // namespace

int usage_error(std::string_view command, std::string_view message) {
  std::cerr << program(command) << ": " << message << "; see: " << program(command) << " --help\n";
  return kUsage;
}

int failure(const Error& error) {
  std::cerr << "headrace: " << error.message << '\n';
  return kFailure;
}

void print_version() { std::cout << "headrace " HEADRACE_VERSION "\n"; }

int dispatch(std::string_view path, std::string_view summary, const std::vector<Command>& commands,
             const Arguments& arguments) {
  if (arguments.empty()) return usage_error(path, "which command?");
  const auto& name = arguments.front();
  if (name == "--help" || name == "-h") {
    print_help(path, summary, commands);
    return kDone;
  }
  if (name == "--version") {
    print_version();
    return kDone;
  }
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& command) { return command.name == name; });
  if (found == commands.end()) {
    const bool option = name.starts_with('-');
    return usage_error(path, (option ? "unknown option " : "unknown command ") + shown(name));
  }
  return found->run({arguments.begin() + 1, arguments.end()});
}

}  // namespace headrace::cli
