#include "core/selector/selector.h"

#include <algorithm>
#include <utility>

#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "core/selector/evaluation.h"
#include "core/selector/parser.h"
#include "core/selector/printer.h"

namespace headrace {
namespace {

tl::unexpected<Error> refuse(std::string_view text, std::size_t offset, const std::string& reason) {
  std::size_t column = 1;
  for (auto before = text.substr(0, offset); !before.empty(); ++column) take_code_point(before);
  return fail(Code::kInvalid, "selector " + shown(text) + " is invalid at column " +
                                  std::to_string(column) + ": " + reason);
}

std::string too_long(std::size_t bytes) {
  return std::to_string(bytes) + " bytes, more than " + std::to_string(limits::kSelectorBytes);
}

// Where the first byte is that is no UTF-8; the end if there is none.
std::size_t utf8_end(std::string_view text) {
  auto rest = text;
  while (!rest.empty()) {
    const auto before = rest;
    if (take_code_point(rest) == kBadUtf8) return text.size() - before.size();
  }
  return text.size();
}

}  // namespace

Result<Selector> Selector::parse(std::string_view text) {
  if (text.size() > limits::kSelectorBytes) {
    return refuse(text, limits::kSelectorBytes, "it has " + too_long(text.size()));
  }
  if (const auto end = utf8_end(text); end != text.size()) {
    return refuse(text, end, "it is not UTF-8, found " + shown(text.substr(end, 1)));
  }
  if (text.find_first_not_of(" \t\f\r\n") == std::string_view::npos) return Selector();
  auto program = selector::Parser(text).run();
  if (!program) return refuse(text, program.error().offset, program.error().reason);
  program->text = selector::print(*program);
  if (program->text.size() > limits::kSelectorBytes) {
    return refuse(text, 0, "written with spaces it has " + too_long(program->text.size()));
  }
  Selector made;
  made.program_ = std::make_shared<const selector::Program>(std::move(*program));
  return made;
}

Truth Selector::matches(const SelectorInput& input) const {
  return program_ ? selector::evaluate(*program_, input) : Truth::kTrue;
}

const std::string& Selector::text() const {
  static const std::string everything;
  return program_ ? program_->text : everything;
}

std::vector<std::string> Selector::names() const {
  std::vector<std::string> names;
  if (!program_) return names;
  for (const auto& slot : program_->slots) names.push_back(slot.name);
  return names;
}

}  // namespace headrace
