#include "tools/cli/table.h"

#include <algorithm>

#include "core/base/utf8.h"

namespace headrace::cli {
namespace {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size()) text.append(widths[i] + 2 - width(row[i]), ' ');
    }
    text += '\n';
  }
  return text;
}

std::string cell(std::string_view text) {
  if (text.empty()) return "-";
  std::string quoted = shown(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace headrace::cli
