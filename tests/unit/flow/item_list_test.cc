#include "core/flow/item_list.h"

#include <catch2/catch.hpp>
#include <map>

#include "core/base/random.h"

using namespace headrace;
using wire::ItemId;

TEST_CASE("an item list agrees with a map whatever is added and taken") {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    ItemList<int> list;
    std::map<ItemId, int> map;
    ItemId next{{1, 1}, 0};
    for (int i = 0; i < 400; ++i) {
      if (random.chance(0.55)) {
        next.n += 1 + (random.chance(0.1) ? random.below(5) : 0);
        if (random.chance(0.02)) next = {{1, next.session.counter + 1}, 1};
        list.push_back(next, i);
        map.emplace(next, i);
      } else if (!map.empty()) {
        auto at = map.begin();
        std::advance(at, random.below(std::min<std::size_t>(map.size(), 5)));
        const auto id = at->first;
        REQUIRE(list.find(id) != nullptr);
        REQUIRE(list.take(id) == at->second);
        map.erase(at);
        REQUIRE(list.find(id) == nullptr);
        REQUIRE_FALSE(list.take(id));
      }
      REQUIRE(list.size() == map.size());
    }
    auto at = map.begin();
    list.for_each([&](const ItemId& id, int value) {
      REQUIRE(id == at->first);
      REQUIRE(value == at->second);
      ++at;
    });
    REQUIRE(at == map.end());
    list.remove_if([](const ItemId& id, int) { return id.n % 2 == 0; });
    std::erase_if(map, [](const auto& entry) { return entry.first.n % 2 == 0; });
    REQUIRE(list.size() == map.size());
    for (const auto& [id, value] : map) REQUIRE(*list.find(id) == value);
  }
}

TEST_CASE("an item that stays does not keep the place of those that pass it") {
  ItemList<int> list;
  list.push_back({{1, 1}, 1}, 0);
  for (std::uint64_t n = 2; n < 100'000; ++n) {
    list.push_back({{1, 1}, n}, 0);
    list.take({{1, 1}, n});
  }
  CHECK(list.size() == 1);
  CHECK(list.find({{1, 1}, 1}) != nullptr);
  CHECK(list.places() <= 2 * list.size() + 64);
}
