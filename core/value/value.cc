#include "core/value/value.h"

namespace headrace {
std::string_view Value::name(Type type) {
  switch (type) {
    case Type::kNil: return "nil";
    case Type::kBool: return "bool";
    case Type::kInt:
    case Type::kUint: return "int";
    case Type::kDouble: return "double";
    case Type::kText: return "text";
    case Type::kBytes: return "bytes";
    case Type::kArray: return "array";
    case Type::kMap: return "map";
    case Type::kTime: return "timestamp";
    case Type::kExt: return "ext";
  }
  return "unknown";
}

tl::unexpected<Error> Value::mismatch(std::string_view expected) const {
  return fail(Code::kInvalid,
              "expected " + std::string(expected) + ", found " + std::string(type_name()));
}

Result<bool> Value::as_bool() const { return copy<bool>("bool"); }
Result<std::int64_t> Value::as_int() const { return as_integer<std::int64_t>(); }
Result<std::uint64_t> Value::as_uint() const { return as_integer<std::uint64_t>(); }
Result<double> Value::as_double() const { return copy<double>("double"); }
Result<WallTime> Value::as_time() const { return copy<WallTime>("timestamp"); }

Result<std::string_view> Value::as_text() const {
  if (const auto* text = get_if<std::string>()) return std::string_view(*text);
  return mismatch("text");
}

Result<BytesView> Value::as_bytes() const {
  if (const auto* bytes = get_if<Blob>()) return BytesView(bytes->data);
  return mismatch("bytes");
}

Result<const Value::Array*> Value::as_array() const {
  if (const auto* array = get_if<Array>()) return array;
  return mismatch("array");
}

Result<const ParamSet*> Value::as_map() const {
  if (const auto* map = get_if<ParamSet>()) return map;
  return mismatch("map");
}

Result<const Ext*> Value::as_ext() const {
  if (const auto* ext = get_if<Ext>()) return ext;
  return mismatch("ext");
}

}  // namespace headrace
