#include "core/wire/codec.h"

#include "core/base/limits.h"

namespace headrace::wire {

void Writer::head(unsigned char tag, std::uint64_t value, unsigned bytes) {
  char text[9];
  store_big_endian(text + 1, value << (64 - 8 * bytes));
  text[0] = static_cast<char>(tag);
  out_.append(text, bytes + 1);
}

Writer& Writer::nil() {
  out_.push_back(static_cast<char>(0xc0));
  return *this;
}

Writer& Writer::boolean(bool value) {
  out_.push_back(static_cast<char>(value ? 0xc3 : 0xc2));
  return *this;
}

Writer& Writer::u64(std::uint64_t value) {
  if (value < 128) {
    out_.push_back(static_cast<char>(value));
  } else if (value <= UINT8_MAX) {
    head(0xcc, value, 1);
  } else if (value <= UINT16_MAX) {
    head(0xcd, value, 2);
  } else if (value <= UINT32_MAX) {
    head(0xce, value, 4);
  } else {
    head(0xcf, value, 8);
  }
  return *this;
}

Writer& Writer::i64(std::int64_t value) {
  if (value >= 0) return u64(static_cast<std::uint64_t>(value));
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= -32) {
    out_.push_back(static_cast<char>(bits));
  } else if (value >= INT8_MIN) {
    head(0xd0, bits, 1);
  } else if (value >= INT16_MIN) {
    head(0xd1, bits, 2);
  } else if (value >= INT32_MIN) {
    head(0xd2, bits, 4);
  } else {
    head(0xd3, bits, 8);
  }
  return *this;
}

Writer& Writer::text(std::string_view value) {
  const auto size = value.size();
  if (size < 32) {
    out_.push_back(static_cast<char>(0xa0 | size));
  } else if (size <= UINT8_MAX) {
    head(0xd9, size, 1);
  } else if (size <= UINT16_MAX) {
    head(0xda, size, 2);
  } else {
    head(0xdb, size, 4);
  }
  out_.append(value);
  return *this;
}

Writer& Writer::bin(BytesView value) {
  const auto size = value.size();
  if (size <= UINT8_MAX) {
    head(0xc4, size, 1);
  } else if (size <= UINT16_MAX) {
    head(0xc5, size, 2);
  } else {
    head(0xc6, size, 4);
  }
  out_.append(value);
  return *this;
}

Writer& Writer::array(std::size_t size) {
  if (size < 16) {
    out_.push_back(static_cast<char>(0x90 | size));
  } else if (size <= UINT16_MAX) {
    head(0xdc, size, 2);
  } else {
    head(0xdd, size, 4);
  }
  return *this;
}

Writer& Writer::map(std::size_t size) {
  if (size < 16) {
    out_.push_back(static_cast<char>(0x80 | size));
  } else if (size <= UINT16_MAX) {
    head(0xde, size, 2);
  } else {
    head(0xdf, size, 4);
  }
  return *this;
}

Writer& Writer::raw(BytesView encoded) {
  out_.append(encoded);
  return *this;
}

bool Reader::boolean() {
  const auto t = tag();
  if (t == 0xc2 || t == 0xc3) return t == 0xc3;
  fail();
  return false;
}

std::uint64_t Reader::long_u64() {
  const auto t = tag();
  if (t < 0x80) return t;
  switch (t) {
    case 0xcc: return number<std::uint8_t>();
    case 0xcd: return number<std::uint16_t>();
    case 0xce: return number<std::uint32_t>();
    case 0xcf: return number<std::uint64_t>();
    default: fail(); return 0;
  }
}

std::int64_t Reader::i64() {
  if (at_ == end_) {
    fail();
    return 0;
  }
  const auto t = static_cast<unsigned char>(*at_);
  if (t >= 0xe0) {
    ++at_;
    return static_cast<std::int8_t>(t);
  }
  if (t < 0xd0 || t > 0xd3) {
    return static_cast<std::int64_t>(u64(INT64_MAX));
  }
  ++at_;
  switch (t) {
    case 0xd0: return static_cast<std::int8_t>(number<std::uint8_t>());
    case 0xd1: return static_cast<std::int16_t>(number<std::uint16_t>());
    case 0xd2: return static_cast<std::int32_t>(number<std::uint32_t>());
    default: return static_cast<std::int64_t>(number<std::uint64_t>());
  }
}

BytesView Reader::text(std::size_t max) {
  const auto t = tag();
  std::uint64_t size = 0;
  if ((t & 0xe0) == 0xa0) {
    size = t & 0x1f;
  } else if (t == 0xd9) {
    size = number<std::uint8_t>();
  } else if (t == 0xda) {
    size = number<std::uint16_t>();
  } else if (t == 0xdb) {
    size = number<std::uint32_t>();
  } else {
    fail();
  }
  if (size > max) fail();
  return ok_ ? take(size) : BytesView{};
}

BytesView Reader::bin(std::size_t max) {
  const auto t = tag();
  std::uint64_t size = 0;
  if (t == 0xc4) {
    size = number<std::uint8_t>();
  } else if (t == 0xc5) {
    size = number<std::uint16_t>();
  } else if (t == 0xc6) {
    size = number<std::uint32_t>();
  } else {
    fail();
  }
  if (size > max) fail();
  return ok_ ? take(size) : BytesView{};
}

std::size_t Reader::array(std::size_t max) {
  const auto t = tag();
  std::uint64_t size = 0;
  if ((t & 0xf0) == 0x90) {
    size = t & 0x0f;
  } else if (t == 0xdc) {
    size = number<std::uint16_t>();
  } else if (t == 0xdd) {
    size = number<std::uint32_t>();
  } else {
    fail();
  }
  // Each value takes at least a byte: a count beyond the bytes that are left is a lie.
  if (size > max || size > static_cast<std::uint64_t>(end_ - at_)) fail();
  return ok_ ? static_cast<std::size_t>(size) : 0;
}

std::size_t Reader::map(std::size_t max) {
  const auto t = tag();
  std::uint64_t size = 0;
  if ((t & 0xf0) == 0x80) {
    size = t & 0x0f;
  } else if (t == 0xde) {
    size = number<std::uint16_t>();
  } else if (t == 0xdf) {
    size = number<std::uint32_t>();
  } else {
    fail();
  }
  if (size > max || size * 2 > static_cast<std::uint64_t>(end_ - at_)) fail();
  return ok_ ? static_cast<std::size_t>(size) : 0;
}

bool Reader::try_nil() {
  if (at_ == end_ || static_cast<unsigned char>(*at_) != 0xc0) return false;
  ++at_;
  return true;
}

BytesView Reader::raw() {
  const char* start = at_;
  pass(0);
  return ok_ ? BytesView{start, static_cast<std::size_t>(at_ - start)} : BytesView{};
}

// Passes over one value, whatever it is. The depth is bounded, and so is the stack.
void Reader::pass(unsigned depth) {
  if (depth > limits::kValueDepth) return fail();
  const auto t = tag();
  std::uint64_t bytes = 0;
  std::uint64_t values = 0;
  if (t < 0x80 || t >= 0xe0 || t == 0xc0 || t == 0xc2 || t == 0xc3) return;
  if (t < 0x90) {
    values = 2u * (t & 0x0fu);
  } else if (t < 0xa0) {
    values = t & 0x0f;
  } else if (t < 0xc0) {
    bytes = t & 0x1f;
  } else {
    switch (t) {
      case 0xc4: case 0xd9: bytes = number<std::uint8_t>(); break;
      case 0xc5: case 0xda: bytes = number<std::uint16_t>(); break;
      case 0xc6: case 0xdb: bytes = number<std::uint32_t>(); break;
      case 0xc7: bytes = number<std::uint8_t>() + 1u; break;
      case 0xc8: bytes = number<std::uint16_t>() + 1u; break;
      case 0xc9: bytes = number<std::uint32_t>() + 1ull; break;
      case 0xcc: case 0xd0: bytes = 1; break;
      case 0xcd: case 0xd1: bytes = 2; break;
      case 0xca: case 0xce: case 0xd2: bytes = 4; break;
      case 0xcb: case 0xcf: case 0xd3: bytes = 8; break;
      case 0xd4: bytes = 2; break;
      case 0xd5: bytes = 3; break;
      case 0xd6: bytes = 5; break;
      case 0xd7: bytes = 9; break;
      case 0xd8: bytes = 17; break;
      case 0xdc: values = number<std::uint16_t>(); break;
      case 0xdd: values = number<std::uint32_t>(); break;
      case 0xde: values = 2u * number<std::uint16_t>(); break;
      case 0xdf: values = 2ull * number<std::uint32_t>(); break;
      default: return fail();
    }
  }
  take(bytes);
  for (; values > 0 && ok_; --values) pass(depth + 1);
}

}  // namespace headrace::wire
