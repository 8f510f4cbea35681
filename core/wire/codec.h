// msgpack, one value at a time: the layer under every message and every stored record.
//
// Writer appends to a buffer that the caller owns. Reader walks bytes that arrived from outside without
// copying or allocating: payloads and parameters come out as views into the frame. Whole values (core/value)
// go through msgpack-cxx; heads and batches go through here, because a visitor or an object tree for each of
// some million small messages a second is what an event would mostly cost.
//
// A message is an array [kind, field, ...]. A reader takes the fields it knows and skips what a newer version
// appended. Neither class is thread-safe.
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/endian.h"
#include "core/base/ids.h"
#include "core/base/time.h"

namespace headrace::wire {

class Writer final {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  Writer& nil();
  Writer& boolean(bool value);
  Writer& u64(std::uint64_t value);
  Writer& i64(std::int64_t value);
  Writer& text(std::string_view value);
  Writer& bin(BytesView value);
  Writer& array(std::size_t size);  // `size` values must follow
  Writer& map(std::size_t size);    // `size` pairs must follow
  Writer& raw(BytesView encoded);   // already msgpack
  Writer& time(WallTime value) { return i64(value.time_since_epoch().count()); }
  template <typename Tag>
  Writer& id(const Id128<Tag>& value) {
    return bin(value.raw());
  }

 private:
  void head(unsigned char tag, std::uint64_t value, unsigned bytes);

  Bytes& out_;
};

// The first thing that does not fit latches the failure: everything after it reads as zero or empty, so a
// decoder checks ok() once at its end. No input makes it read outside its bytes or allocate.
class Reader final {
 public:
  explicit Reader(BytesView bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  BytesView rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  void fail() {
    ok_ = false;
    at_ = end_;
  }

  bool boolean();
  std::uint64_t u64() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) {
      return static_cast<unsigned char>(*at_++);
    }
    return long_u64();
  }
  std::uint64_t u64(std::uint64_t max) {  // fails above `max`
    const auto value = u64();
    if (value <= max) return value;
    fail();
    return 0;
  }
  std::int64_t i64();
  BytesView text(std::size_t max);       // fails if longer; does not check UTF-8
  BytesView bin(std::size_t max);
  // Number of values that follow; fails above `max`.
  std::size_t array(std::size_t max);
  std::size_t map(std::size_t max);
  bool try_nil();                        // true, and passed over, if a nil stands here
  BytesView raw();                       // the next whole value, undecoded
  void skip() { raw(); }
  WallTime time() { return WallTime{Micros{i64()}}; }
  template <typename Id>
  Id id() {
    const auto bytes = bin(16);
    if (bytes.size() != 16) {
      fail();
      return Id{};
    }
    return Id::from_raw(bytes);
  }

 private:
  unsigned char tag() {
    if (at_ != end_) return static_cast<unsigned char>(*at_++);
    fail();
    return 0xc1;  // never used in msgpack: no case takes it
  }
  template <typename T>
  T number() {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) {
      fail();
      return 0;
    }
    const char* from = at_;
    at_ += sizeof(T);
    return load_big_endian<T>(from);
  }
  BytesView take(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
      fail();
      return {};
    }
    const char* from = at_;
    at_ += size;
    return {from, static_cast<std::size_t>(size)};
  }
  std::uint64_t long_u64();
  void pass(unsigned depth);

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace headrace::wire
