#include <catch2/catch.hpp>

#include "core/base/random.h"
#include "core/wire/codec.h"
#include "core/wire/member.h"

using namespace headrace;
using namespace headrace::wire;

namespace {

NodeId id_of(std::uint64_t n) { return NodeId::from_halves(n, ~n); }

Update alive(std::uint64_t n) {
  Description about;
  about.name = "mill-" + std::to_string(n);
  about.control_endpoint = "tcp://192.168.1.7:7420";
  about.data_endpoint = "tcp://192.168.1.7:7421";
  about.tags = {{"rack", "b"}, {"zone", "north"}};
  about.has_store = true;
  about.reopened = n % 2 == 1;
  about.protocol_max = 3;
  Update update;
  update.id = id_of(n);
  update.numbers = {1'700'000'000'000 + n, n};
  update.advert_version = 12;
  update.about = std::make_shared<Description>(about);
  return update;
}

Update belief(UpdateKind kind) {
  Update update;
  update.kind = kind;
  update.id = id_of(5);
  update.numbers = {77, 3};
  if (kind == UpdateKind::kAdvert) update.advert_version = 900;
  if (kind == UpdateKind::kSuspect || kind == UpdateKind::kDead) update.by = id_of(6);
  return update;
}

std::vector<Update> all_updates() {
  return {alive(1), belief(UpdateKind::kSuspect), belief(UpdateKind::kDead),
          belief(UpdateKind::kLeft), belief(UpdateKind::kAdvert)};
}

std::vector<MemberMessage> all_messages() {
  return {Hello{1, alive(1), std::nullopt},
          Hello{2, alive(2), belief(UpdateKind::kDead)},
          HelloAck{3, alive(3), belief(UpdateKind::kSuspect)},
          Reject{4, RejectReason::kVersion, "speaks 2 to 3"},
          Ping{5, "tcp://1.2.3.4:5", all_updates()},
          Ack{6, all_updates()},
          PingRequest{7, id_of(8), "tcp://[::1]:9", 500},
          Nack{8},
          Gossip{all_updates()},
          SyncDigest{9, 0xfedcba9876543210ULL},
          SyncNeed{10, 1, 3, {{id_of(1), UpdateKind::kLeft, {4, 5}, 6}, {}}},
          SyncState{11, true, false, all_updates(), {id_of(1), id_of(2)}},
          Leave{{12, 13}},
          AdvertGet{id_of(3), 14, 15, 16, "tcp://host:1"},
          AdvertChunk{id_of(4), 17, 18, 1, 2, Bytes("\0\xff!", 3)}};
}

}  // namespace

TEST_CASE("every membership message reads back as it was written") {
  for (const auto& message : all_messages()) {
    INFO("alternative " << message.index());
    const auto decoded = decode_member(encode_member(message));
    REQUIRE(decoded);
    CHECK(*decoded == message);
  }
}

TEST_CASE("a ping has the bytes that the protocol says") {
  const Bytes expected("\x94\x04\xcd\x01\x00\xa3tcp\x90", 10);
  CHECK(encode_member(Ping{256, "tcp", {}}) == expected);
}

TEST_CASE("fields and updates of a newer version are passed over") {
  Bytes bytes;
  Writer out(bytes);
  out.array(3).u64(number(Kind::kGossip)).array(2);
  out.array(4).u64(200).id(id_of(1)).text("unknown").nil();
  out.array(5).u64(3).id(id_of(2)).array(3).u64(8).u64(9).text("more").map(0).boolean(true);
  out.text("a field behind");
  const auto decoded = decode_member(bytes);
  REQUIRE(decoded);
  const auto& updates = std::get<Gossip>(*decoded).updates;
  REQUIRE(updates.size() == 1);
  CHECK(updates[0].kind == UpdateKind::kLeft);
  CHECK(updates[0].id == id_of(2));
  CHECK(updates[0].numbers == Numbers{8, 9});
}

TEST_CASE("a membership message cut short anywhere is refused") {
  for (const auto& message : all_messages()) {
    const auto bytes = encode_member(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      INFO("alternative " << message.index() << " cut to " << size);
      const auto decoded = decode_member(BytesView(bytes).substr(0, size));
      REQUIRE_FALSE(decoded);
      CHECK(decoded.error().code == Code::kProtocol);
    }
  }
}

TEST_CASE("a membership message with any byte changed is read or refused") {
  Random random(3);
  std::size_t refused = 0;
  for (const auto& message : all_messages()) {
    const auto bytes = encode_member(message);
    for (int round = 0; round < 2000; ++round) {
      Bytes bad = bytes;
      for (auto hits = 1 + random.below(4); hits > 0; --hits) {
        bad[random.below(bad.size())] = static_cast<char>(random.next());
      }
      const auto decoded = decode_member(bad);
      if (!decoded) {
        ++refused;
        continue;
      }
      // What was taken can be told on.
      CHECK(decode_member(encode_member(*decoded)));
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("names, tags, endpoints and numbers are taken at their limit and refused beyond") {
  const auto taken = [](const std::function<void(Description&)>& change) {
    auto update = alive(1);
    Description about = *update.about;
    change(about);
    update.about = std::make_shared<Description>(about);
    return decode_member(encode_member(Hello{1, update, {}})).has_value();
  };
  const auto text = [](std::size_t size) { return std::string(size, 'x'); };
  CHECK(taken([&](auto& about) { about.name = text(limits::kNameBytes); }));
  CHECK_FALSE(taken([&](auto& about) { about.name = text(limits::kNameBytes + 1); }));
  CHECK(taken([&](auto& about) { about.data_endpoint = text(limits::kEndpointBytes); }));
  CHECK_FALSE(taken([&](auto& about) { about.data_endpoint = text(limits::kEndpointBytes + 1); }));
  CHECK(taken([&](auto& about) { about.tags = {{"key", text(limits::kTagsBytes - 3)}}; }));
  CHECK_FALSE(taken([&](auto& about) { about.tags = {{"key", text(limits::kTagsBytes - 2)}}; }));
  CHECK(decode_member(encode_member(Leave{{1, limits::kRefutations}})));
  CHECK_FALSE(decode_member(encode_member(Leave{{1, limits::kRefutations + 1}})));
  CHECK(decode_member(encode_member(Leave{{INT64_MAX, 0}})));
  CHECK_FALSE(decode_member(encode_member(Leave{{std::uint64_t{INT64_MAX} + 1, 0}})));
}

TEST_CASE("a chunk of an advert is taken at its limit and refused beyond") {
  AdvertChunk chunk;
  chunk.bytes = Bytes(limits::kAdvertChunkBytes, 'x');
  CHECK(decode_member(encode_member(chunk)));
  chunk.bytes.push_back('x');
  CHECK_FALSE(decode_member(encode_member(chunk)));
}

TEST_CASE("a count that the bytes cannot hold is refused") {
  Bytes bytes;
  Writer out(bytes);
  out.array(2).u64(number(Kind::kGossip)).array(4000);
  CHECK_FALSE(decode_member(bytes));
}
