// Value: one datum of the msgpack model, nested as deep as it likes: nil, bool, int, double, text,
// bytes, array, map with text keys, timestamp, ext. What parameters, results and selectors are made
// of.
//
// Integers are one type whatever C++ type they came from: held as int64, and as uint64 only above
// its range, so that equal numbers compare equal. Text and bytes differ: Value("abc") is text,
// Value(Blob{"abc"}) is bytes. Nothing is coerced: asking an int for a double is an error that
// names what was found.
//
// A value type: copy, move, compare; not thread-safe while it changes. Whether text is UTF-8, and
// all limits, are checked when it is encoded (value_codec.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/time.h"
#include "core/value/params.h"

namespace headrace {

// Bytes that are not text.
struct Blob {
  Bytes data;
  bool operator==(const Blob&) const = default;
};

// An application's own msgpack extension, carried unread. Type -1 is the timestamp: use a WallTime.
struct Ext {
  std::int8_t type = 0;
  Bytes data;
  bool operator==(const Ext&) const = default;
};

class Value final {
 public:
  using Array = std::vector<Value>;
  enum class Type : std::uint8_t {
    kNil,
    kBool,
    kInt,
    kUint,
    kDouble,
    kText,
    kBytes,
    kArray,
    kMap,
    kTime,
    kExt
  };

  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool value) : data_(value) {}
  // A char is neither a number nor a text here: say which.
  template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
             !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>)
  Value(T value) {
    if (std::in_range<std::int64_t>(value)) {
      data_ = static_cast<std::int64_t>(value);
    } else {
      data_ = static_cast<std::uint64_t>(value);
    }
  }
  Value(double value) : data_(value) {}
  Value(float value) : data_(static_cast<double>(value)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(Blob bytes) : data_(std::move(bytes)) {}
  Value(Array values) : data_(std::move(values)) {}
  Value(ParamSet map) : data_(std::move(map)) {}
  Value(std::initializer_list<Param> map) : data_(ParamSet(map)) {}
  Value(WallTime time) : data_(time) {}
  Value(Ext ext) : data_(std::move(ext)) {}
  template <typename T>
    requires(std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
             std::same_as<T, char16_t> || std::same_as<T, char32_t>)
  Value(T) = delete;
  template <typename T>
    requires(!std::same_as<T, const char> && !std::same_as<T, char>)
  Value(T*) = delete;  // would turn into a bool

  Type type() const { return static_cast<Type>(data_.index()); }
  std::string_view type_name() const {
    return name(type());
  }  // "nil", "bool", "int", ..., as in messages
  static std::string_view name(Type type);
  bool is_nil() const { return type() == Type::kNil; }

  // kInvalid, naming the type found, if it is another. Views and pointers are valid while the Value
  // is unchanged; the pointers are never null.
  Result<bool> as_bool() const;
  Result<std::int64_t> as_int() const;
  Result<std::uint64_t> as_uint() const;  // any int that is not negative
  Result<double> as_double() const;
  Result<std::string_view> as_text() const;
  Result<BytesView> as_bytes() const;
  Result<const Array*> as_array() const;
  Result<const ParamSet*> as_map() const;
  Result<WallTime> as_time() const;
  Result<const Ext*> as_ext() const;

  // The same by type: bool, any integer type (kInvalid if the number does not fit), double,
  // std::string or std::string_view (text), Blob (bytes), Value::Array, ParamSet, WallTime, Ext,
  // Value (whatever it is).
  template <typename T>
  Result<T> as() const;

  // The alternative held if it is a T (of those that visit() names), else null.
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&data_);
  }

  // f(alternative) for std::monostate (nil), bool, int64_t, uint64_t, double, std::string, Blob,
  // Array, ParamSet, WallTime or Ext: how codecs and bindings walk a Value.
  template <typename F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), data_);
  }

  bool operator==(const Value&) const = default;

 private:
  // In the order of Type.
  using Data = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                            Blob, Array, ParamSet, WallTime, Ext>;

  template <typename T>
  Result<T> copy(std::string_view expected) const;
  template <typename T>
  Result<T> as_integer() const;
  tl::unexpected<Error> mismatch(std::string_view expected) const;

  Data data_;
};

struct Param {
  std::string name;
  Value value;
  bool operator==(const Param&) const = default;
};

template <typename T>
Result<T> Value::copy(std::string_view expected) const {
  if (const auto* found = get_if<T>()) return *found;
  return mismatch(expected);
}

template <typename T>
Result<T> Value::as_integer() const {
  const auto narrow = [](auto number) -> Result<T> {
    if (std::in_range<T>(number)) return static_cast<T>(number);
    return fail(Code::kInvalid, "expected an integer from " +
                                    std::to_string(std::numeric_limits<T>::min()) + " to " +
                                    std::to_string(std::numeric_limits<T>::max()) + ", found " +
                                    std::to_string(number));
  };
  if (const auto* number = get_if<std::int64_t>()) return narrow(*number);
  if (const auto* number = get_if<std::uint64_t>()) return narrow(*number);
  return mismatch("int");
}

template <typename T>
Result<T> Value::as() const {
  if constexpr (std::same_as<T, Value>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    return as_bool();
  } else if constexpr (std::integral<T>) {
    return as_integer<T>();
  } else if constexpr (std::same_as<T, double>) {
    return as_double();
  } else if constexpr (std::same_as<T, std::string>) {
    return copy<std::string>("text");
  } else if constexpr (std::same_as<T, std::string_view>) {
    return as_text();
  } else if constexpr (std::same_as<T, Blob>) {
    return copy<Blob>("bytes");
  } else if constexpr (std::same_as<T, Array>) {
    return copy<Array>("array");
  } else if constexpr (std::same_as<T, ParamSet>) {
    return copy<ParamSet>("map");
  } else if constexpr (std::same_as<T, WallTime>) {
    return as_time();
  } else {
    static_assert(std::same_as<T, Ext>, "no Value holds such a type");
    return copy<Ext>("ext");
  }
}

template <typename T>
Result<T> ParamSet::get(std::string_view path) const {
  const auto found = find(path);
  if (!found) return fail(found.error());
  auto value = (*found)->template as<T>();
  if (!value) value.error().message.insert(0, "parameter '" + std::string(path) + "': ");
  return value;
}

}  // namespace headrace
