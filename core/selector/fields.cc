#include "core/selector/fields.h"

#include <algorithm>
#include <bit>

#include "core/value/value_codec.h"

namespace headrace::selector {
namespace {

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
  wire::Reader in(encoded);
  const auto tag = static_cast<unsigned char>(encoded.front());
  if (tag < 0x80 || (tag >= 0xcc && tag <= 0xcf)) return Operand::exact(in.u64());
  if (tag >= 0xe0 || (tag >= 0xd0 && tag <= 0xd3)) return Operand::exact(in.i64());
  if ((tag >= 0xa0 && tag < 0xc0) || (tag >= 0xd9 && tag <= 0xdb)) {
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
      if (in.text(limits::kParamNameBytes) == part.name) return in.ok();
      in.skip();
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
  const auto name = params_.text(limits::kParamNameBytes);
  const auto value = params_.raw();
  if (!params_.ok()) {
    left_ = 0;
    return;
  }
  const char first = name.empty() ? '\0' : name.front();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto& slot = slots_[i];
    if (slot.head_size != name.size() || slot.head != first || (known_ >> i & 1) != 0) continue;
    if (slot.path.empty() || slot.path.front().name != name) continue;
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
