#include "core/base/ids.h"

namespace headrace {
namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(BytesView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Result<Bytes> from_hex(std::string_view hex, std::size_t size) {
  const auto refuse = [&] {
    return fail(Code::kInvalid, "'" + std::string(hex.substr(0, 80)) + "' is not an id: expected " +
                                    std::to_string(size * 2) + " hex digits");
  };
  if (hex.size() != size * 2) return refuse();
  Bytes bytes;
  bytes.reserve(size);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]);
    const int low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return refuse();
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

}  // namespace headrace
