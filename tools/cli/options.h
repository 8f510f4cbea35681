// The command line of one command: Boost.Program_options with the options that all commands share,
// and errors in one line.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "tools/cli/command.h"

namespace headrace::cli {

namespace po = boost::program_options;

class Options final {
 public:
  // `command`: the words that lead to it; `synopsis`: what follows them, but for the options.
  Options(std::string command, std::string synopsis, std::string summary);

  // To declare the command's own options with.
  po::options_description_easy_init add() { return own_.add_options(); }
  // A value that stands without an option's name, in the order of declaration; must be there.
  void positional(const std::string& name);
  // --node, for commands that reach a running node.
  void reaches_node();

  // Nothing: go on. Else the exit code: help or version was asked for, or the line is wrong.
  std::optional<int> parse(const Arguments& arguments);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  template <typename T>
  const T& get(const std::string& name) const {
    return values_[name].as<T>();
  }
  std::string text(const std::string& name) const { return get<std::string>(name); }
  // All values of an option that may be repeated.
  std::vector<std::string> all(const std::string& name) const;
  // kInvalid if it is not between the two, both included.
  Result<std::uint64_t> number(const std::string& name, std::uint64_t low,
                               std::uint64_t high) const;
  bool json() const { return has("json"); }

  int wrong(std::string_view message) const { return usage_error(command_, message); }

 private:
  void print_help() const;

  std::string command_;
  std::string synopsis_;
  std::string summary_;
  po::options_description own_{"options", 100};
  po::options_description hidden_;
  po::positional_options_description positions_;
  std::vector<std::string> required_;
  po::variables_map values_;
};

// For an option that number() reads.
po::typed_value<std::int64_t>* number_value(std::int64_t default_value);

// A number of seconds, fractions included, up to a hundred years: "1.5". kInvalid.
Result<Millis> parse_seconds(std::string_view text);

}  // namespace headrace::cli
