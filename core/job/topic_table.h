// The owner's topics and their numbers: rows hold numbers, which are never given again. Owned by JobOwner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/store/batch.h"
#include "core/store/store.h"

namespace headrace::job {

class TopicTable final {
 public:
  // Reads what is stored. kStore.
  Result<void> load(const Snapshot& snapshot);

  // The number of `topic`, made and written into `batch` if it is new.
  std::uint32_t number_of(std::string_view topic, WriteBatch& batch);
  const std::string& text(std::uint32_t number) const { return texts_.at(number); }
  // By number; number 0 is not used.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string> texts_{""};
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace headrace::job
