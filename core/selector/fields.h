// Fields: the names of a selector, looked up in one event as they are asked for. Parameters are
// walked once, in their encoded form, only as far as needed; values are views into it.
//
// Lives on the stack for one evaluation. Reads nothing outside its input, whatever the input holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/limits.h"
#include "core/selector/program.h"
#include "core/selector/selector.h"
#include "core/wire/codec.h"

namespace headrace::selector {

class Fields final {
 public:
  Fields(const std::vector<Slot>& slots, const SelectorInput& input)
      : slots_(slots), input_(input), params_(input.params) {
    if (!input.params.empty()) left_ = params_.map(limits::kValueElements);
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  // Null if the event has no such parameter. Valid while this is.
  const Operand& get(std::size_t slot) {
    if ((known_ >> slot & 1) == 0) find(slot);
    return values_[slot];
  }

 private:
  static_assert(limits::kSelectorNames <= 64);  // bits of known_

  void find(std::size_t slot);
  Operand field(Slot::Field field);
  // Notes what the next parameter says of any slot.
  void take_param();
  void set(std::size_t slot, const Operand& value) {
    values_[slot] = value;
    known_ |= std::uint64_t{1} << slot;
  }

  const std::vector<Slot>& slots_;
  const SelectorInput& input_;
  wire::Reader params_;   // at the parameters not looked at yet
  std::size_t left_ = 0;  // how many these are
  std::uint64_t known_ = 0;
  std::array<Operand, limits::kSelectorNames> values_;  // set where known_ says so
  std::array<char, 32> id_;                             // of $id, once asked for
};

}  // namespace headrace::selector
