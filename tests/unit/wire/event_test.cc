#include "core/wire/event.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/base/limits.h"
#include "core/base/random.h"
#include "core/wire/kinds.h"

using namespace headrace;
using namespace headrace::wire;
using namespace std::string_literals;

namespace {

template <typename Message>
bool decodes(BytesView bytes, Kind kind, Message& message) {
  Reader in(bytes);
  in.array(64);
  if (in.u64() != number(kind)) in.fail();
  return decode(in, message) && in.at_end();
}

// The same message through the ordinary writer.
Bytes plainly(const Event& event) {
  Bytes bytes;
  Writer out(bytes);
  out.array(8)
      .u64(number(Kind::kEvent))
      .u64(event.seq)
      .time(event.time)
      .text(event.topic)
      .u64(event.depth);
  out.bin(event.params).bin(event.payload).u64(event.blob);
  return bytes;
}

}  // namespace

TEST_CASE("an event has these bytes, both ways") {
  const Event event{300, WallTime{Micros{1'000'000}}, "a.b", 2, "\x81", "payload", 0};
  Bytes bytes;
  encode(bytes, event);
  CHECK(to_hex(bytes) ==
        "98"
        "46"
        "cd012c"
        "ce000f4240"
        "a3612e62"
        "02"
        "c40181"
        "c4077061796c6f6164"
        "00");
  Event back;
  REQUIRE(decodes(bytes, Kind::kEvent, back));
  CHECK(back == event);
}

TEST_CASE("a gone has these bytes, both ways") {
  const EventGone gone{"a", 1, 70'000};
  Bytes bytes;
  encode(bytes, gone);
  CHECK(to_hex(bytes) ==
        "94"
        "47"
        "a161"
        "01"
        "ce00011170");
  EventGone back;
  REQUIRE(decodes(bytes, Kind::kEventGone, back));
  CHECK(back == gone);
}

TEST_CASE("an event is written as the ordinary writer would, whatever its fields") {
  Random random(8);
  const auto bits = [&] { return random.next() >> random.below(64); };
  for (int i = 0; i < 3000; ++i) {
    const std::string topic(1 + random.below(random.chance(0.5) ? 40 : limits::kTopicBytes), 't');
    const Bytes params(random.below(random.chance(0.9) ? 300 : 70'000), 'p');
    const Bytes payload(random.below(random.chance(0.9) ? 300 : limits::kChunkBytes + 1), 'x');
    const auto micros = static_cast<std::int64_t>(bits());
    Event event{bits(), WallTime{Micros{micros}},
                topic,  static_cast<unsigned>(random.below(129)),
                params, payload,
                0};
    if (random.chance(0.2)) {
      event.payload = {};
      event.blob = 1 + bits() / 2;
    }
    Bytes bytes = "before";
    encode(bytes, event);
    if (micros >= 0) REQUIRE(bytes == "before" + plainly(event));
    Event back;
    REQUIRE(decodes(BytesView(bytes).substr(6), Kind::kEvent, back));
    REQUIRE(back == event);
  }
}

TEST_CASE("times before the epoch travel too") {
  for (const auto micros : {std::int64_t{-1}, std::int64_t{-1'000'000'000'000},
                            std::numeric_limits<std::int64_t>::min()}) {
    Bytes bytes;
    encode(bytes, Event{1, WallTime{Micros{micros}}, "a", 1, "", "", 0});
    Event back;
    REQUIRE(decodes(bytes, Kind::kEvent, back));
    CHECK(back.time == WallTime{Micros{micros}});
  }
}

TEST_CASE("an event at the limits is taken, and one past any of them is not") {
  const auto taken = [](std::size_t topic, unsigned depth, std::size_t params, std::size_t payload,
                        std::uint64_t blob) {
    const std::string names(topic, 't');
    const Bytes first(params, 'p');
    const Bytes second(payload, 'x');
    const auto bytes = plainly(Event{1, WallTime{}, names, depth, first, second, blob});
    Event back;
    return decodes(bytes, Kind::kEvent, back);
  };
  CHECK(taken(limits::kTopicBytes, 128, limits::kParamsBytes, limits::kChunkBytes, 0));
  CHECK_FALSE(taken(limits::kTopicBytes + 1, 0, 0, 0, 0));
  CHECK_FALSE(taken(1, 129, 0, 0, 0));
  CHECK_FALSE(taken(1, 0, limits::kParamsBytes + 1, 0, 0));
  CHECK_FALSE(taken(1, 0, 0, limits::kChunkBytes + 1, 0));
  CHECK(taken(1, 0, 0, 0, 5));
  CHECK_FALSE(taken(1, 0, 0, 1, 5));  // the payload either here or in blobs
}

TEST_CASE("an event that is cut short anywhere is refused") {
  Bytes bytes;
  encode(bytes, Event{300, WallTime{Micros{1'000'000}}, "a.b", 2, "\x80", "payload", 0});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Event back;
    CHECK_FALSE(decodes(BytesView(bytes).substr(0, size), Kind::kEvent, back));
  }
}
