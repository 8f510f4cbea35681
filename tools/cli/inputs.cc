#include "tools/cli/inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/base/utf8.h"
#include "core/value/value_codec.h"
#include "tools/cli/json.h"

namespace headrace::cli {
namespace {

tl::unexpected<Error> too_large(const std::string& file, const std::string& size,
                                std::size_t most) {
  return fail(Code::kInvalid, "payload " + shown(file) + " has " + size + " bytes; at most " +
                                  std::to_string(most) +
                                  " are taken: store it elsewhere and send where it is");
}

}  // namespace

Result<ParamSet> parse_params(const std::vector<std::string>& arguments) {
  ParamSet params;
  for (const auto& argument : arguments) {
    const auto equals = argument.find('=');
    const bool json = equals != std::string::npos && equals > 0 && argument[equals - 1] == ':';
    const auto name = argument.substr(0, equals == std::string::npos ? 0 : equals - (json ? 1 : 0));
    if (name.empty()) {
      return fail(Code::kInvalid,
                  "parameter " + shown(argument) + " is neither KEY=TEXT nor KEY:=JSON");
    }
    if (params.contains(name)) {
      return fail(Code::kInvalid, "parameter " + shown(name) + " is given twice");
    }
    const auto text = argument.substr(equals + 1);
    if (!json) {
      params.set(name, text);
      continue;
    }
    auto value = parse_json(text);
    if (!value) {
      return fail(Code::kInvalid, "parameter " + shown(name) + ": " + shown(text) +
                                      " is not JSON: " + value.error().message +
                                      "; for text write " + name + "=TEXT");
    }
    params.set(name, std::move(*value));
  }
  if (const auto encoded = encode(params); !encoded) return fail(encoded.error());
  return params;
}

Result<Bytes> read_payload(const std::string& file, std::size_t most) {
  const bool standard = file == "-";
  const auto close = [standard](std::FILE* open) {
    if (!standard) std::fclose(open);
  };
  const std::unique_ptr<std::FILE, decltype(close)> in(
      standard ? stdin : std::fopen(file.c_str(), "rb"), close);
  const auto unreadable = [&] {
    return fail(Code::kInvalid, "cannot read payload " + shown(file) + ": " + std::strerror(errno));
  };
  if (!in) return unreadable();
  // What is too large is told by its size where there is one, and not read.
  std::error_code unknown;
  const auto size = standard ? 0 : std::filesystem::file_size(file, unknown);
  if (!standard && !unknown && size > most) return too_large(file, std::to_string(size), most);
  Bytes bytes;
  char part[1 << 16];
  while (const auto got = std::fread(part, 1, sizeof(part), in.get())) {
    bytes.append(part, got);
    if (bytes.size() > most) {
      return too_large(file, "over " + std::to_string(most), most);
    }
  }
  if (std::ferror(in.get())) return unreadable();
  return bytes;
}

}  // namespace headrace::cli
