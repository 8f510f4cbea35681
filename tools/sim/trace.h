// Trace: what happened in a run, as one number that two runs of a seed must share, and as lines for
// whoever wants to read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>

#include "core/base/bytes.h"
#include "core/base/time.h"

namespace headrace::sim {

class Trace final {
 public:
  // `out` may be null: then nothing is written, only hashed.
  explicit Trace(std::ostream* out) : out_(out) {}

  bool written() const { return out_ != nullptr; }
  void line(MonoTime now, const std::string& text);    // hashed and written
  void detail(MonoTime now, const std::string& text);  // written only

  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * kPrime ^ hash_ >> 29; }
  void mix(BytesView bytes) {
    mix(bytes.size());
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      mix(word);
    }
    for (const char byte : bytes) mix(static_cast<unsigned char>(byte));
  }
  std::uint64_t hash() const { return hash_; }

 private:
  static constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15ULL;

  std::ostream* out_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace headrace::sim
