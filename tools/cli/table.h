// Rows in aligned columns, for people.
#pragma once

#include <string>
#include <vector>

namespace headrace::cli {

// The first row is the heading. The last column is not padded. Width counts code points.
std::string table(const std::vector<std::vector<std::string>>& rows);

// What a cell or a line shows of a text that may hold anything: control characters as \xNN.
std::string cell(std::string_view text);

}  // namespace headrace::cli
