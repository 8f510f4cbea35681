#include "tools/cli/options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/base/utf8.h"
#include "nodes/client/client.h"

namespace headrace::cli {
namespace {

std::string default_node() {
  const char* named = std::getenv("HEADRACE_NODE");
  return named != nullptr && *named != '\0' ? named : std::string(kDefaultEndpoint);
}

// "-p" and "--priority" as they were given, for messages.
std::string dashed(const std::string& name) {
  return name.starts_with('-') ? name : (name.size() == 1 ? "-" : "--") + name;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string message_of(const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    return "unknown option " + shown(dashed(unknown->get_option_name()));
  }
  if (const auto* bad = dynamic_cast<const po::validation_error*>(&error)) {
    return "option " + dashed(bad->get_option_name()) + ": " + bad->what();
  }
  return error.what();
}

}  // namespace

Options::Options(std::string command, std::string synopsis, std::string summary)
    : command_(std::move(command)), synopsis_(std::move(synopsis)), summary_(std::move(summary)) {}

void Options::positional(const std::string& name) {
  hidden_.add_options()(name.c_str(), po::value<std::string>());
  positions_.add(name.c_str(), 1);
  required_.push_back(name);
}

void Options::reaches_node() {
  const auto node = default_node();
  add()("node", po::value<std::string>()->default_value(node)->value_name("ENDPOINT"),
        "the running node to use; $HEADRACE_NODE is the default");
}

void Options::print_help() const {
  std::cout << "usage: headrace " << command_ << ' ' << synopsis_ << "\n"
            << summary_ << "\n\n"
            << own_;
}

std::optional<int> Options::parse(const Arguments& arguments) {
  add()("json", "print JSON")("help,h", "print this")("version", "print the version");
  po::options_description all;
  all.add(own_).add(hidden_);
  try {
    const auto style = po::command_line_style::unix_style ^ po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positions_).style(style).run(),
        values_);
    po::notify(values_);
  } catch (const po::too_many_positional_options_error&) {
    return wrong("takes no more than " + std::to_string(required_.size()) +
                 " argument(s) without an option: " + synopsis_);
  } catch (const po::error& error) {
    return wrong(message_of(error));
  }
  if (has("help")) {
    print_help();
    return kDone;
  }
  if (has("version")) {
    print_version();
    return kDone;
  }
  for (const auto& name : required_) {
    if (!has(name)) return wrong(upper(name) + " is missing");
  }
  return {};
}

std::vector<std::string> Options::all(const std::string& name) const {
  return has(name) ? get<std::vector<std::string>>(name) : std::vector<std::string>();
}

Result<std::uint64_t> Options::number(const std::string& name, std::uint64_t low,
                                      std::uint64_t high) const {
  const auto number = get<std::int64_t>(name);
  if (std::cmp_less(number, low) || std::cmp_greater(number, high)) {
    return fail(Code::kInvalid, "option --" + name + ": " + std::to_string(number) +
                                    " is not between " + std::to_string(low) + " and " +
                                    std::to_string(high));
  }
  return static_cast<std::uint64_t>(number);
}

po::typed_value<std::int64_t>* number_value(std::int64_t default_value) {
  return po::value<std::int64_t>()->default_value(default_value)->value_name("N");
}

Result<Millis> parse_seconds(std::string_view text) {
  constexpr double kMost = 100.0 * 365 * 24 * 3600;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0) ||
      seconds > kMost) {
    return fail(Code::kInvalid, shown(text) + " is not a number of seconds");
  }
  return Millis{std::llround(seconds * 1000)};
}

}  // namespace headrace::cli
