#include <catch2/catch.hpp>

#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/wire/window.h"

using namespace headrace;
using namespace headrace::wire;

namespace {

template <typename T>
Bytes encoded(const T& value) {
  Bytes bytes;
  Writer out(bytes);
  encode(out, value);
  return bytes;
}

template <typename T>
bool decodes(const Bytes& bytes, T& value) {
  Reader in(bytes);
  decode(in, value);
  return in.ok() && in.at_end();
}

// There and back, with a field of a newer version appended, and cut short at each byte.
template <typename T>
void check_travels(const T& value) {
  const Bytes bytes = encoded(value);
  T back;
  REQUIRE(decodes(bytes, back));
  CHECK(back == value);
  REQUIRE((static_cast<unsigned char>(bytes[0]) & 0xf0) == 0x90);
  Bytes newer = bytes + '\x01';
  ++newer[0];
  REQUIRE(decodes(newer, back));
  CHECK(back == value);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Reader in(BytesView(bytes).substr(0, size));
    decode(in, back);
    REQUIRE_FALSE(in.ok());
  }
}

const Announce kAnnounce{17, {1'700'000'000'000, 4}, 900, 800, 70, 64, true};

WindowState a_state() {
  WindowState state;
  state.session = {1'700'000'000'000, 4};
  state.sender = 1'700'000'000'001;
  state.limit = 900, state.passed = 700, state.burned = 70, state.ask = 80;
  state.echo = state.full = true;
  state.held = {{3, 12, 1}, {4, 690, 11}};
  return state;
}

}  // namespace

TEST_CASE("window messages travel, and pass over what newer versions append") {
  check_travels(WindowId{7, "default"});
  check_travels(kAnnounce);
  check_travels(ItemHead{kAnnounce});
  check_travels(Mark{kAnnounce});
  check_travels(a_state());
  WindowState bare = a_state();
  bare.full = false;
  bare.held.clear();
  check_travels(bare);
  check_travels(LaneHead{{5, 1}, 1 << 30, 65'536});
  check_travels(LaneMark{{5, 1}, 1 << 30});
  check_travels(LaneQuery{{5, 1}, true});
  check_travels(LaneState{{5, 1}, 6, 400, 300, 200, 100});
}

TEST_CASE("an item's number is what was sent: used less burned") {
  CHECK(ItemHead{kAnnounce}.id() == ItemId{kAnnounce.session, 730});
  CHECK(Mark{kAnnounce}.last() == 730);
}

TEST_CASE("accounts that do not add up are refused") {
  Announce announce = kAnnounce, back;
  announce.burned = announce.used + 1;
  CHECK_FALSE(decodes(encoded(announce), back));
  announce = kAnnounce;
  announce.used = announce.limit + 1;
  CHECK_FALSE(decodes(encoded(announce), back));
  WindowState state = a_state(), state_back;
  state.passed = state.limit;
  CHECK_FALSE(decodes(encoded(state), state_back));
  LaneState lane{{5, 1}, 6, 400, 200, 201, 0}, lane_back;
  CHECK_FALSE(decodes(encoded(lane), lane_back));
}

TEST_CASE("cumulative numbers stop at their limit") {
  Announce announce = kAnnounce, back;
  announce.limit = limits::kWindowCount;
  CHECK(decodes(encoded(announce), back));
  ++announce.limit;
  CHECK_FALSE(decodes(encoded(announce), back));
}

TEST_CASE("a held list stops at its limit") {
  WindowState state = a_state(), back;
  state.held = {{1, 1, limits::kHeldItems - 1}, {2, 5, 1}};
  CHECK(decodes(encoded(state), back));
  state.held.push_back({3, 1, 1});
  CHECK_FALSE(decodes(encoded(state), back));
  state.held.clear();
  for (std::uint64_t i = 0; i < limits::kHeldItems; ++i) state.held.push_back({1, 1 + 2 * i, 1});
  CHECK(decodes(encoded(state), back));
  CHECK(back == state);
  state.held.push_back({2, 1, 1});
  CHECK_FALSE(decodes(encoded(state), back));
}

TEST_CASE("a queue's name stops at its limit") {
  WindowId back;
  CHECK(decodes(encoded(WindowId{1, std::string(limits::kNameBytes, 'q')}), back));
  CHECK_FALSE(decodes(encoded(WindowId{1, std::string(limits::kNameBytes + 1, 'q')}), back));
}

TEST_CASE("no bytes make a decoder fail in any other way than by its reader") {
  Random random(5);
  const Bytes good = encoded(a_state());
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = good;
    for (auto changes = 1 + random.below(4); changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    WindowState state;
    Reader in(bytes);
    decode(in, state);
    std::uint64_t items = 0;
    for (const auto& run : state.held) items += run.count;
    if (in.ok()) REQUIRE(items <= limits::kHeldItems);
  }
}
