#include "core/wire/frame.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/base/random.h"

using namespace headrace;
using namespace headrace::wire;

namespace {

FrameHead some_head() {
  FrameHead head;
  head.cluster = cluster_hash("default");
  head.sender = NodeId::from_halves(1, 2);
  head.sender_incarnation = 1'790'000'000'000;
  head.receiver = NodeId::from_halves(3, 4);
  head.receiver_incarnation = UINT64_MAX;
  return head;
}

// [7, payload]
Bytes message_of(std::size_t payload) {
  Bytes out;
  Writer(out).array(2).u64(7).bin(Bytes(payload, 'x'));
  return out;
}

std::vector<Bytes> messages_in(BytesView frame) {
  std::vector<Bytes> out;
  FrameReader in(frame);
  while (const auto message = in.next()) out.emplace_back(*message);
  REQUIRE(in.ok());
  return out;
}

Bytes encoded(const FrameHead& head) {
  Bytes out;
  Writer writer(out);
  encode(writer, head);
  return out;
}

}  // namespace

TEST_CASE("the cluster hash is FNV-1a, 64 bits") {
  // Reference values of the algorithm's authors.
  CHECK(cluster_hash("") == 0xcbf29ce484222325ULL);
  CHECK(cluster_hash("a") == 0xaf63dc4c8601ec8cULL);
  CHECK(cluster_hash("foobar") == 0x85944171f73967e8ULL);
}

TEST_CASE("a head's bytes are those of the protocol") {
  FrameHead head;
  head.cluster = 0x0102030405060708ULL;
  head.sender = NodeId::from_halves(0, 1);
  head.sender_incarnation = 5;
  CHECK(to_hex(encoded(head)) ==
        "9601cf0102030405060708"
        "c41000000000000000000000000000000001"
        "05"
        "c41000000000000000000000000000000000"
        "00");
}

TEST_CASE("a frame gives back its head and its messages in order") {
  FrameBuilder builder(some_head());
  const std::vector<Bytes> messages{message_of(0), message_of(100), message_of(5'000)};
  for (const auto& message : messages) builder.append(message);
  CHECK(builder.frames() == 1);
  const auto bytes = builder.bytes();
  const Bytes frame = builder.take();
  CHECK(frame.size() == bytes);
  CHECK(builder.empty());
  CHECK(builder.bytes() == 0);
  CHECK(FrameReader(frame).head() == some_head());
  CHECK(messages_in(frame) == messages);
}

TEST_CASE("a message written in place equals one appended as bytes") {
  FrameBuilder in_place(some_head());
  FrameBuilder appended(some_head());
  in_place.add([](Writer& out) { out.array(2).u64(7).bin("xxx"); });
  appended.append(message_of(3));
  CHECK(in_place.take() == appended.take());
}

TEST_CASE("the largest head has the announced size and a frame without messages is good") {
  FrameHead head = some_head();
  head.version = head.cluster = head.sender_incarnation = UINT64_MAX;
  const auto bytes = encoded(head);
  CHECK(bytes.size() == kHeadBytes);
  FrameReader in(bytes);
  CHECK(in.head() == head);
  CHECK_FALSE(in.next());
  CHECK(in.ok());
}

TEST_CASE("fields that a newer version appends to the head are passed over") {
  Bytes frame = encoded(some_head());
  frame[0] = static_cast<char>(0x90 | 8);
  Writer out(frame);
  out.array(2).u64(1).text("new");
  out.boolean(true);
  frame += message_of(4);
  CHECK(FrameReader(frame).head() == some_head());
  CHECK(messages_in(frame) == std::vector<Bytes>{message_of(4)});
}

TEST_CASE("a frame closes when it reaches the batch size, and not before") {
  const auto head = encoded(some_head()).size();
  const auto fill = [&](std::size_t total) {
    FrameBuilder builder(some_head());
    // bin 16 needs 3 bytes, array and kind 2.
    builder.append(message_of(total - head - 5));
    CHECK(builder.bytes() == total);
    builder.append(message_of(1));
    return builder.frames();
  };
  CHECK(fill(limits::kBatchBytes - 1) == 1);
  CHECK(fill(limits::kBatchBytes) == 2);
}

TEST_CASE("frames leave in the order they were filled, and one put back is the next again") {
  FrameBuilder builder(some_head());
  for (std::size_t i = 0; i < 3'000; ++i) builder.append(message_of(i % 200));
  CHECK(builder.frames() > 3);
  const auto before = builder.bytes();
  Bytes first = builder.take();
  const Bytes copy = first;
  builder.put_back(std::move(first));
  CHECK(builder.bytes() == before);
  first = builder.take();
  CHECK(first == copy);
  builder.put_back(std::move(first));
  std::size_t seen = 0;
  while (!builder.empty()) {
    const Bytes frame = builder.take();
    CHECK(frame.size() < limits::kBatchBytes + 300);
    for (const auto& message : messages_in(frame)) CHECK(message == message_of(seen++ % 200));
  }
  CHECK(seen == 3'000);
  CHECK(builder.bytes() == 0);
}

TEST_CASE("a frame taken while open is closed: what follows opens a new one") {
  FrameBuilder builder(some_head());
  builder.append(message_of(1));
  Bytes frame = builder.take();
  builder.put_back(std::move(frame));
  builder.append(message_of(2));
  CHECK(builder.frames() == 2);
  CHECK(messages_in(builder.take()) == std::vector<Bytes>{message_of(1)});
  CHECK(messages_in(builder.take()) == std::vector<Bytes>{message_of(2)});
}

TEST_CASE("a new head holds for the frames opened after it") {
  FrameHead later = some_head();
  later.receiver_incarnation = 77;
  FrameBuilder builder(some_head());
  builder.append(message_of(1));
  builder.set_head(some_head());
  builder.append(message_of(2));
  CHECK(builder.frames() == 1);
  builder.set_head(later);
  builder.append(message_of(3));
  CHECK(builder.frames() == 2);
  CHECK(FrameReader(builder.take()).head() == some_head());
  CHECK(FrameReader(builder.take()).head() == later);
}

TEST_CASE("a frame cut short anywhere yields only whole messages and never more than it held") {
  FrameBuilder builder(some_head());
  for (std::size_t i = 0; i < 3; ++i) builder.append(message_of(i * 10));
  const Bytes frame = builder.take();
  const auto head = encoded(some_head()).size();
  std::vector<std::size_t> ends{head};
  for (std::size_t i = 0; i < 3; ++i) ends.push_back(ends.back() + message_of(i * 10).size());
  for (std::size_t cut = 0; cut < frame.size(); ++cut) {
    FrameReader in(BytesView(frame).substr(0, cut));
    std::size_t messages = 0;
    while (in.next()) ++messages;
    std::size_t whole = 0;
    while (whole < 3 && ends[whole + 1] <= cut) ++whole;
    CAPTURE(cut);
    CHECK(messages == whole);
    // At a border between messages nothing is missing.
    CHECK(in.ok() == (cut >= head && cut == ends[whole]));
  }
}

TEST_CASE("random bytes behind a good head never give more than they hold") {
  Random random(42);
  const auto head = encoded(some_head());
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes frame = round % 2 == 0 ? head : Bytes{};
    for (auto n = random.below(64); n > 0; --n) frame.push_back(static_cast<char>(random.next()));
    FrameReader in(frame);
    std::size_t bytes = 0;
    while (const auto message = in.next()) bytes += message->size();
    CHECK(bytes <= frame.size());
    if (!in.ok()) ++refused;
  }
  CHECK(refused > 10'000);
}

TEST_CASE("what is no array with a kind is no message") {
  const auto good = [](BytesView tail) {
    const Bytes frame = encoded(some_head()).append(tail);
    FrameReader in(frame);
    while (in.next()) continue;
    return in.ok();
  };
  CHECK(good("\x91\x07"));
  CHECK_FALSE(good("\x90"));
  CHECK_FALSE(good("\x07"));
  CHECK_FALSE(good("\xa1x"));
  CHECK_FALSE(good("\xc1"));
}

TEST_CASE("a frame of the largest size is read, one byte more is refused") {
  Bytes frame = encoded(some_head());
  // bin 32 needs 5 bytes, array and kind 2.
  frame += message_of(limits::kFrameBytes - frame.size() - 7);
  REQUIRE(frame.size() == limits::kFrameBytes);
  CHECK(messages_in(frame).size() == 1);
  frame.push_back('\x00');
  FrameReader in(frame);
  CHECK_FALSE(in.ok());
  CHECK_FALSE(in.next());
}

TEST_CASE("a frame holds the greatest number of messages, one more is refused") {
  Bytes frame = encoded(some_head());
  for (std::size_t i = 0; i < limits::kMessagesPerFrame; ++i) frame += "\x91\x07";
  CHECK(messages_in(frame).size() == limits::kMessagesPerFrame);
  frame += "\x91\x07";
  FrameReader in(frame);
  std::size_t read = 0;
  while (in.next()) ++read;
  CHECK(read == limits::kMessagesPerFrame);
  CHECK_FALSE(in.ok());
}

TEST_CASE("the largest message fits behind a batch that is almost full") {
  FrameBuilder builder(some_head());
  const auto head = encoded(some_head()).size();
  builder.append(message_of(limits::kBatchBytes - 1 - head - 5));
  builder.append(message_of(kMessageBytes - 7));
  CHECK(builder.frames() == 1);
  const Bytes frame = builder.take();
  CHECK(frame.size() == limits::kFrameBytes - 1);
  CHECK(messages_in(frame).size() == 2);
}
