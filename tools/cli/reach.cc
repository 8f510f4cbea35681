#include "tools/cli/reach.h"

namespace headrace::cli {

Result<Client> reach(const Options& options) {
  return Client::connect({.endpoint = options.text("node")});
}

int ended(const Options& options, const Error& error) {
  return error.code == Code::kInvalid ? options.wrong(error.message) : failure(error);
}

}  // namespace headrace::cli
