#include "core/selector/fields.h"

#include <array>
#include <bit>

#include "core/selector/same_text.h"
#include "core/value/value_codec.h"

namespace headrace::selector {
namespace {

// Bytes of a value whose first byte tells that; 0 where it does not.
constexpr std::array<std::uint8_t, 256> kSizes = [] {
  std::array<std::uint8_t, 256> sizes{};
  for (std::size_t tag = 0; tag < 256; ++tag) {
    const bool number = tag < 0x80 || tag >= 0xe0;
    const bool constant = tag == 0xc0 || tag == 0xc2 || tag == 0xc3;
    if (number || constant) sizes[tag] = 1;
    if (tag >= 0xa0 && tag < 0xc0) sizes[tag] = static_cast<std::uint8_t>(tag - 0xa0 + 1);
  }
  sizes[0xcc] = sizes[0xd0] = 2;
  sizes[0xcd] = sizes[0xd1] = 3;
  sizes[0xce] = sizes[0xd2] = sizes[0xca] = 5;
  sizes[0xcf] = sizes[0xd3] = sizes[0xcb] = 9;
  return sizes;
}();

bool is_short_text(char tag) { return (static_cast<unsigned char>(tag) & 0xe0) == 0xa0; }

// The next value, undecoded: without a walk for what most parameters are, a number or a short text.
BytesView take_value(wire::Reader& in) {
  const auto rest = in.rest();
  const std::size_t size = rest.empty() ? 0 : kSizes[static_cast<unsigned char>(rest.front())];
  if (size == 0 || size > rest.size()) return in.raw();
  in = wire::Reader(rest.substr(size));
  return rest.substr(0, size);
}

BytesView take_name(wire::Reader& in) {
  const auto rest = in.rest();
  if (rest.empty() || !is_short_text(rest.front())) return in.text(limits::kParamNameBytes);
  const auto name = take_value(in);
  return in.ok() ? name.substr(1) : name;
}

// A timestamp as microseconds since 1970, whose encoding value_codec knows.
Operand decode_ext(BytesView encoded) {
  constexpr std::size_t kLongestTimestamp = 15;
  if (encoded.size() > kLongestTimestamp) return Operand::other();
  const auto value = decode_value(encoded);
  if (!value) return Operand::other();
  const auto* time = value->get_if<WallTime>();
  return time ? Operand::exact(time->time_since_epoch().count()) : Operand::other();
}

// `encoded` is one whole value, or empty where the bytes ended early.
Operand decode(BytesView encoded) {
  if (encoded.empty()) return Operand::null();
  if (is_short_text(encoded.front())) return Operand::text(encoded.substr(1));
  wire::Reader in(encoded);
  const auto tag = static_cast<unsigned char>(encoded.front());
  if (tag < 0x80 || (tag >= 0xcc && tag <= 0xcf)) return Operand::exact(in.u64());
  if (tag >= 0xe0 || (tag >= 0xd0 && tag <= 0xd3)) return Operand::exact(in.i64());
  if (tag >= 0xd9 && tag <= 0xdb) {
    return Operand::text(in.text(limits::kParamsBytes));
  }
  switch (tag) {
    case 0xc0: return Operand::null();
    case 0xc2: return Operand::truth(Truth::kFalse);
    case 0xc3: return Operand::truth(Truth::kTrue);
    case 0xca: {
      const auto bits = load_big_endian<std::uint32_t>(encoded.data() + 1);
      return Operand::inexact(static_cast<double>(std::bit_cast<float>(bits)));
    }
    case 0xcb: {
      const auto bits = load_big_endian<std::uint64_t>(encoded.data() + 1);
      return Operand::inexact(std::bit_cast<double>(bits));
    }
    case 0xc7:
    case 0xd6:
    case 0xd7: return decode_ext(encoded);
    default: return Operand::other();
  }
}

bool is_map(unsigned char tag) { return (tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf; }
bool is_array(unsigned char tag) { return (tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd; }

// Moves `in` from a container to what `part` names in it; false if there is no such thing.
bool enter(wire::Reader& in, const Slot::Part& part) {
  if (in.at_end()) return false;
  const auto tag = static_cast<unsigned char>(in.rest().front());
  if (is_map(tag)) {
    for (auto left = in.map(limits::kValueElements); left > 0 && in.ok(); --left) {
      if (same_text(take_name(in), part.name)) return in.ok();
      take_value(in);
    }
    return false;
  }
  if (!is_array(tag) || !part.index) return false;
  const auto size = in.array(limits::kValueElements);
  if (*part.index >= size) return false;
  for (auto before = *part.index; before > 0 && in.ok(); --before) in.skip();
  return in.ok();
}

Operand decode_inside(BytesView encoded, const std::vector<Slot::Part>& path) {
  wire::Reader in(encoded);
  for (auto part = path.begin() + 1; part != path.end(); ++part) {
    if (!enter(in, *part)) return Operand::null();
  }
  return decode(in.raw());
}

}  // namespace

Operand Fields::field(Slot::Field field) {
  switch (field) {
    case Slot::Field::kTopic: return Operand::text(input_.topic);
    case Slot::Field::kNode: return Operand::text(input_.node);
    case Slot::Field::kTime: return Operand::exact(input_.time.time_since_epoch().count());
    case Slot::Field::kSize: return Operand::exact(static_cast<std::uint64_t>(input_.size));
    case Slot::Field::kId: {
      static constexpr char kDigits[] = "0123456789abcdef";
      for (std::size_t i = 0; i < input_.id.bytes.size(); ++i) {
        id_[2 * i] = kDigits[input_.id.bytes[i] >> 4];
        id_[2 * i + 1] = kDigits[input_.id.bytes[i] & 15];
      }
      return Operand::text({id_.data(), id_.size()});
    }
    case Slot::Field::kParameter: break;
  }
  return Operand::null();
}

void Fields::take_param() {
  --left_;
  const auto name = take_name(params_);
  const auto value = take_value(params_);
  if (!params_.ok()) {
    left_ = 0;
    return;
  }
  const char first = name.empty() ? '\0' : name.front();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& slot = slots_[i];
    if (slot.head_size != name.size() || slot.head != first || (known_ >> i & 1) != 0) continue;
    if (slot.path.empty() || !same_text(slot.path.front().name, name)) continue;
    set(i, slot.path.size() == 1 ? decode(value) : decode_inside(value, slot.path));
  }
}

void Fields::find(std::size_t slot) {
  if (slots_[slot].field != Slot::Field::kParameter) return set(slot, field(slots_[slot].field));
  while (left_ > 0) {
    take_param();
    if ((known_ >> slot & 1) != 0) return;
  }
  set(slot, Operand::null());
}

}  // namespace headrace::selector
