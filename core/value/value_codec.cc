#include "core/value/value_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <msgpack.hpp>
#include <optional>

#include "core/base/limits.h"
#include "core/base/utf8.h"

namespace headrace {
namespace {

constexpr std::int8_t kTimestamp = -1;
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

std::string too_many(std::size_t count) {
  return std::to_string(count) + " elements, more than " + std::to_string(limits::kValueElements);
}

// What is wrong with a name, or nothing.
std::optional<std::string> name_fault(std::string_view name) {
  if (name.size() > limits::kParamNameBytes) {
    return "the name " + shown(name) + " has " + std::to_string(name.size()) +
           " bytes, more than " + std::to_string(limits::kParamNameBytes);
  }
  if (!is_utf8(name)) return "the name " + shown(name) + " is not UTF-8";
  return std::nullopt;
}

// ---- encoding ----

struct Output {
  Bytes bytes;
  void write(const char* data, std::size_t size) { bytes.append(data, size); }
};

class Encoder final {
 public:
  Result<Bytes> run(std::string_view root, const auto& value) {
    if (!put(value) || !has_room(0)) {
      return fail(Code::kInvalid, std::string(root) + path_ + ": " + fault_);
    }
    return std::move(out_.bytes);
  }

 private:
  bool refuse(std::string why) {
    fault_ = std::move(why);
    return false;
  }
  bool has_room(std::size_t more) {
    if (out_.bytes.size() + more <= limits::kParamsBytes) return true;
    return refuse("more than " + std::to_string(limits::kParamsBytes) +
                  " bytes in all; put bulk into the payload");
  }
  bool enter(std::size_t elements) {
    if (elements > limits::kValueElements) return refuse(too_many(elements));
    if (depth_ == limits::kValueDepth) {
      return refuse("nested deeper than " + std::to_string(limits::kValueDepth));
    }
    ++depth_;
    return true;
  }
  // Notes on the way back where the fault was.
  bool inside(std::string_view name) {
    path_.insert(0, name).insert(0, ".");
    return false;
  }

  bool put(const Value& value) {
    return has_room(1) && value.visit([this](const auto& held) { return put(held); });
  }
  bool put(std::monostate) { return pack_.pack_nil(), true; }
  bool put(bool value) { return value ? pack_.pack_true() : pack_.pack_false(), true; }
  bool put(std::int64_t value) { return pack_.pack_int64(value), true; }
  bool put(std::uint64_t value) { return pack_.pack_uint64(value), true; }
  // Not pack_double(), which makes an int of a whole number.
  bool put(double value) {
    std::array<char, 9> raw{'\xcb'};
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < 8; ++i) raw[1 + i] = static_cast<char>(bits >> (56 - 8 * i));
    out_.write(raw.data(), raw.size());
    return true;
  }
  bool put(const std::string& text) {
    if (!has_room(text.size())) return false;
    if (!is_utf8(text))
      return refuse("the text " + shown(text) + " is not UTF-8; send it as bytes");
    pack_.pack_str(static_cast<std::uint32_t>(text.size()));
    pack_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
    return true;
  }
  bool put(const Blob& blob) {
    if (!has_room(blob.data.size())) return false;
    pack_.pack_bin(static_cast<std::uint32_t>(blob.data.size()));
    pack_.pack_bin_body(blob.data.data(), static_cast<std::uint32_t>(blob.data.size()));
    return true;
  }
  bool put(const Ext& ext) {
    if (!has_room(ext.data.size())) return false;
    if (ext.type == kTimestamp) return refuse("ext type -1 is the timestamp; give a time instead");
    put_ext(ext.type, ext.data);
    return true;
  }
  bool put(WallTime time);
  bool put(const Value::Array& array);
  bool put(const ParamSet& map);
  void put_ext(std::int8_t type, BytesView body) {
    pack_.pack_ext(body.size(), type);
    pack_.pack_ext_body(body.data(), static_cast<std::uint32_t>(body.size()));
  }

  Output out_;
  msgpack::packer<Output> pack_{out_};
  std::size_t depth_ = 0;
  std::string path_;
  std::string fault_;
};

Bytes big_endian(std::uint64_t value, unsigned bytes) {
  Bytes out;
  for (unsigned i = bytes; i > 0; --i) out.push_back(static_cast<char>(value >> (8 * (i - 1))));
  return out;
}

bool Encoder::put(WallTime time) {
  const auto micros = time.time_since_epoch().count();
  auto seconds = micros / kMicrosPerSecond;
  auto rest = micros % kMicrosPerSecond;
  if (rest < 0) {
    rest += kMicrosPerSecond;
    --seconds;
  }
  const auto nanos = static_cast<std::uint64_t>(rest) * 1000;
  const auto unsigned_seconds = static_cast<std::uint64_t>(seconds);
  if (nanos == 0 && unsigned_seconds >> 32 == 0) {
    put_ext(kTimestamp, big_endian(unsigned_seconds, 4));
  } else if (unsigned_seconds >> 34 == 0) {
    put_ext(kTimestamp, big_endian(nanos << 34 | unsigned_seconds, 8));
  } else {
    put_ext(kTimestamp, big_endian(nanos, 4) + big_endian(unsigned_seconds, 8));
  }
  return true;
}

bool Encoder::put(const Value::Array& array) {
  if (!enter(array.size())) return false;
  pack_.pack_array(static_cast<std::uint32_t>(array.size()));
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!put(array[i])) return inside(std::to_string(i));
  }
  --depth_;
  return true;
}

bool Encoder::put(const ParamSet& map) {
  if (!enter(map.size())) return false;
  pack_.pack_map(static_cast<std::uint32_t>(map.size()));
  for (const auto& [name, value] : map) {
    if (auto fault = name_fault(name)) return refuse(std::move(*fault));
    if (!has_room(name.size())) return false;
    pack_.pack_str(static_cast<std::uint32_t>(name.size()));
    pack_.pack_str_body(name.data(), static_cast<std::uint32_t>(name.size()));
    if (!put(value)) return inside(name);
  }
  --depth_;
  return true;
}

// ---- decoding ----

std::uint64_t from_big_endian(BytesView bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// The three layouts of extension -1; nothing if it is none of them or no WallTime can hold it.
std::optional<WallTime> decode_timestamp(BytesView body) {
  std::int64_t seconds = 0;
  std::uint64_t nanos = 0;
  if (body.size() == 4) {
    seconds = static_cast<std::int64_t>(from_big_endian(body));
  } else if (body.size() == 8) {
    const auto both = from_big_endian(body);
    nanos = both >> 34;
    seconds = static_cast<std::int64_t>(both & 0x3'FFFF'FFFFULL);
  } else if (body.size() == 12) {
    nanos = from_big_endian(body.substr(0, 4));
    seconds = static_cast<std::int64_t>(from_big_endian(body.substr(4)));
  } else {
    return std::nullopt;
  }
  constexpr auto kLast = WallTime::duration::max().count() / kMicrosPerSecond;
  if (nanos > 999'999'999 || seconds >= kLast || seconds <= -kLast) return std::nullopt;
  return WallTime{Micros{seconds * kMicrosPerSecond + static_cast<std::int64_t>(nanos / 1000)}};
}

// Builds a Value as msgpack's parser walks the bytes. A visitor instead of msgpack's own objects,
// because those allocate what a header claims before the elements have arrived; the limits that an
// unpack_limit would set are kept here.
class Builder final : public msgpack::null_visitor {
 public:
  bool visit_nil() { return put(Value()); }
  bool visit_boolean(bool value) { return put(value); }
  bool visit_positive_integer(std::uint64_t value) { return put(value); }
  bool visit_negative_integer(std::int64_t value) { return put(value); }
  bool visit_float32(float value) { return put(value); }
  bool visit_float64(double value) { return put(value); }
  bool visit_bin(const char* data, std::uint32_t size) { return put(Blob{Bytes(data, size)}); }
  bool visit_str(const char* data, std::uint32_t size) {
    const std::string_view text(data, size);
    if (in_key_) {
      if (auto fault = name_fault(text)) return refuse(std::move(*fault));
      stack_.back().name = text;
      return true;
    }
    if (!is_utf8(text)) return refuse("the text " + shown(text) + " is not UTF-8");
    return put(text);
  }
  bool visit_ext(const char* data, std::uint32_t size) {
    const auto type = static_cast<std::int8_t>(data[0]);
    const BytesView body(data + 1, size - 1);
    if (type != kTimestamp) return put(Ext{type, Bytes(body)});
    const auto time = decode_timestamp(body);
    return time ? put(*time) : refuse("not a timestamp that fits");
  }
  bool start_array(std::uint32_t size) { return enter(false, size); }
  bool start_map(std::uint32_t size) { return enter(true, size); }
  bool start_map_key() {
    stack_.back().name = {};
    return in_key_ = true;
  }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool end_array() {
    Value::Array array = std::move(stack_.back().values);
    stack_.pop_back();
    return put(std::move(array));
  }
  bool end_map() {
    auto params = std::move(stack_.back().params);
    const auto count = params.size();
    ParamSet map(std::move(params));
    stack_.back().name = {};
    if (map.size() != count) return refuse("a name stands twice");
    stack_.pop_back();
    return put(std::move(map));
  }
  void parse_error(std::size_t, std::size_t) { refuse("a byte that is no msgpack"); }
  void insufficient_bytes(std::size_t, std::size_t) { refuse("the bytes end too early"); }

  Value take() { return std::move(root_); }
  // Where the fault is, as ".size.x", and what it is.
  std::string fault() const {
    std::string path;
    for (const auto& level : stack_) {
      path += '.';
      path += level.is_map ? std::string(level.name) : std::to_string(level.values.size());
    }
    while (!path.empty() && path.back() == '.') path.pop_back();
    return path + ": " + fault_;
  }

 private:
  struct Level {
    bool is_map = false;
    std::string_view name;  // of the param that comes next; looks into the input
    Value::Array values;
    std::vector<Param> params;
  };

  bool refuse(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
    return false;
  }
  bool enter(bool is_map, std::size_t size) {
    if (in_key_) return refuse("a name is not text");
    if (size > limits::kValueElements) return refuse(too_many(size));
    if (stack_.size() == limits::kValueDepth) {
      return refuse("nested deeper than " + std::to_string(limits::kValueDepth));
    }
    stack_.push_back(Level{is_map, {}, {}, {}});
    return true;
  }
  bool put(Value value) {
    if (in_key_) return refuse("a name is " + std::string(value.type_name()) + ", not text");
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (stack_.back().is_map) {
      stack_.back().params.push_back(Param{std::string(stack_.back().name), std::move(value)});
    } else {
      stack_.back().values.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Level> stack_;
  Value root_;
  bool in_key_ = false;
  std::string fault_;
};

Result<Value> decode(std::string_view root, BytesView bytes) {
  const auto refuse = [&](const std::string& fault) {
    return fail(Code::kProtocol, std::string(root) + fault);
  };
  if (bytes.size() > limits::kParamsBytes) {
    return refuse(": " + std::to_string(bytes.size()) + " bytes, more than " +
                  std::to_string(limits::kParamsBytes));
  }
  Builder builder;
  std::size_t used = 0;
  try {
    if (!msgpack::parse(bytes.data(), bytes.size(), used, builder)) return refuse(builder.fault());
  } catch (const std::exception& e) {  // the parser's border; none is known to pass it
    return refuse(std::string(": ") + e.what());
  }
  if (used != bytes.size()) {
    return refuse(": " + std::to_string(bytes.size() - used) + " bytes too many");
  }
  return builder.take();
}

}  // namespace

Result<Bytes> encode(const ParamSet& params) {
  if (params.empty()) return Bytes();
  return Encoder().run("params", params);
}

Result<Bytes> encode(const Value& value) { return Encoder().run("value", value); }

Result<ParamSet> decode_params(BytesView bytes) {
  if (bytes.empty()) return ParamSet();
  auto value = decode("params", bytes);
  if (!value) return fail(std::move(value.error()));
  if (auto* params = value->get_if<ParamSet>()) return std::move(*params);
  return fail(Code::kProtocol, "params: expected map, found " + std::string(value->type_name()));
}

Result<Value> decode_value(BytesView bytes) { return decode("value", bytes); }

}  // namespace headrace
