// The dense table of beliefs, its index, and the lives that beliefs share.
#include <catch2/catch.hpp>
#include <map>

#include "core/member/member_table.h"

using namespace headrace;

namespace {

NodeId id_of(std::uint64_t n) { return NodeId::from_halves(n * 0x9E3779B97F4A7C15ULL, n); }

MemberRecord record(Lives& lives, std::uint64_t n, std::uint64_t refutation = 0) {
  static const auto about = std::make_shared<const wire::Description>();
  MemberRecord out;
  out.life = lives.find_or_keep(id_of(n), 1, about);
  out.set_refutation(refutation);
  return out;
}

}  // namespace

TEST_CASE("a belief takes 32 bytes") { CHECK(sizeof(MemberRecord) == 32); }

TEST_CASE("a belief holds refutations up to the limit") {
  MemberRecord member;
  member.set_refutation(limits::kRefutations);
  CHECK(member.refutation == limits::kRefutations);
  CHECK_FALSE(member.refused);
  CHECK(member.state == MemberState::kAlive);
}

TEST_CASE("whatever comes and goes, the table finds what is in it and nothing else") {
  Random random(5);
  Lives lives;
  MemberTable table;
  std::map<std::uint64_t, std::uint64_t> expected;  // refutation by number
  for (int i = 0; i < 20'000; ++i) {
    // Grows, shrinks to nothing and grows again.
    const auto n = random.below(600);
    const bool grow = random.below(10) < (i / 4'000 % 2 == 0 ? 8u : 2u);
    if (!grow) {
      table.remove(id_of(n));
      expected.erase(n);
    } else if (!expected.contains(n)) {
      const auto refutation = random.below(100);
      const auto& added = table.add(record(lives, n, refutation));
      REQUIRE(&table.all()[table.place(added)] == &added);
      expected.emplace(n, refutation);
    }
    REQUIRE(table.all().size() == expected.size());
    if (i % 50 != 0) continue;
    for (std::uint64_t each = 0; each < 600; ++each) {
      const auto* found = table.find(id_of(each));
      const auto at = expected.find(each);
      REQUIRE((found != nullptr) == (at != expected.end()));
      if (found == nullptr) continue;
      REQUIRE(found->id() == id_of(each));
      REQUIRE(found->refutation == at->second);
    }
  }
}

TEST_CASE("the hash of a view follows each change as if it were made anew") {
  Random random(6);
  Lives lives;
  MemberTable table;
  for (std::uint64_t n = 0; n < 50; ++n) table.add(record(lives, n));
  for (int i = 0; i < 2'000; ++i) {
    const auto& member = *table.find(id_of(random.below(50)));
    switch (random.below(3)) {
      case 0: table.set_state(member, static_cast<MemberState>(random.below(4)), MonoTime{}); break;
      case 1:
        table.change(member, [&](MemberRecord& m) { m.set_refutation(random.below(9)); });
        break;
      default: table.change(member, [&](MemberRecord& m) { m.advert_version += 1; }); break;
    }
    MemberTable anew;
    for (const auto& each : table.all()) anew.add(each);
    REQUIRE(anew.hash() == table.hash());
    REQUIRE(anew.live() == table.live());
  }
}

TEST_CASE("equal lives are kept once, and only as long as a belief rests on them") {
  Lives lives;
  wire::Description one;
  one.name = "one";
  wire::Description other;
  other.name = "other";
  const auto share = [](const wire::Description& about) {
    return std::make_shared<const wire::Description>(about);
  };
  {
    const auto first = lives.find_or_keep(id_of(1), 7, share(one));
    const auto again = lives.find_or_keep(id_of(1), 7, share(one));
    CHECK(&*first == &*again);
    CHECK(lives.size() == 1);
    // A later start, and another that claims the same start, are lives of their own.
    const auto later = lives.find_or_keep(id_of(1), 8, share(one));
    const auto twin = lives.find_or_keep(id_of(1), 7, share(other));
    CHECK(lives.size() == 3);
    CHECK(later->incarnation == 8);
    CHECK(twin->about->name == "other");
    auto moved = later;
    moved = first;
    CHECK(lives.size() == 3);
  }
  CHECK(lives.size() == 0);
  MemberTable table;
  table.add(record(lives, 1));
  table.add(record(lives, 2));
  CHECK(lives.size() == 2);
  table.remove(id_of(1));
  CHECK(lives.size() == 1);
}
