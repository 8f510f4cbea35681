#include "core/wire/codec.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <msgpack.hpp>

#include "core/base/limits.h"
#include "core/base/random.h"

using namespace headrace;
using namespace headrace::wire;
using namespace std::string_literals;

namespace {

template <typename Write>
std::string hex_of(Write write) {
  Bytes bytes;
  Writer out(bytes);
  write(out);
  return to_hex(bytes);
}

// What `read` gives for bytes that it must take to their end.
template <typename Read>
auto read_all(BytesView bytes, Read read) {
  Reader in(bytes);
  auto value = read(in);
  REQUIRE(in.ok());
  REQUIRE(in.at_end());
  return value;
}

template <typename Read>
bool refused(BytesView bytes, Read read) {
  Reader in(bytes);
  read(in);
  if (in.ok()) return false;
  // Once failed, nothing is read any more.
  CHECK(in.at_end());
  CHECK(in.u64() == 0);
  CHECK(in.text(10).empty());
  CHECK_FALSE(in.ok());
  return true;
}

constexpr auto kAsU64 = [](Reader& in) { return in.u64(); };
constexpr auto kAsI64 = [](Reader& in) { return in.i64(); };
constexpr auto kAsText = [](Reader& in) { return in.text(1'000'000); };
constexpr auto kAsBin = [](Reader& in) { return in.bin(1'000'000); };
constexpr auto kAsArray = [](Reader& in) { return in.array(1'000'000); };
constexpr auto kAsMap = [](Reader& in) { return in.map(1'000'000); };
constexpr auto kAsRaw = [](Reader& in) { return in.raw(); };

std::string unhex(std::string_view hex) { return from_hex(hex, hex.size() / 2).value(); }

}  // namespace

// Expected bytes are written out from the msgpack specification.
TEST_CASE("an unsigned integer takes the shortest form of the specification, both ways") {
  const std::vector<std::pair<std::uint64_t, std::string>> vectors{
      {0, "00"},
      {1, "01"},
      {127, "7f"},
      {128, "cc80"},
      {255, "ccff"},
      {256, "cd0100"},
      {65535, "cdffff"},
      {65536, "ce00010000"},
      {4294967295, "ceffffffff"},
      {4294967296, "cf0000000100000000"},
      {9223372036854775807ULL, "cf7fffffffffffffff"},
      {9223372036854775808ULL, "cf8000000000000000"},
      {18446744073709551615ULL, "cfffffffffffffffff"},
  };
  for (const auto& [value, hex] : vectors) {
    CAPTURE(value);
    CHECK(hex_of([v = value](Writer& out) { out.u64(v); }) == hex);
    CHECK(read_all(unhex(hex), kAsU64) == value);
    if (value <= 9223372036854775807ULL) {
      CHECK(read_all(unhex(hex), kAsI64) == static_cast<std::int64_t>(value));
    } else {
      CHECK(refused(unhex(hex), kAsI64));
    }
  }
}

TEST_CASE("a signed integer takes the shortest form of the specification, both ways") {
  const auto min = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::pair<std::int64_t, std::string>> vectors{
      {5, "05"},
      {200, "ccc8"},
      {-1, "ff"},
      {-32, "e0"},
      {-33, "d0df"},
      {-128, "d080"},
      {-129, "d1ff7f"},
      {-32768, "d18000"},
      {-32769, "d2ffff7fff"},
      {-2147483648LL, "d280000000"},
      {-2147483649LL, "d3ffffffff7fffffff"},
      {min, "d38000000000000000"},
  };
  for (const auto& [value, hex] : vectors) {
    CAPTURE(value);
    CHECK(hex_of([v = value](Writer& out) { out.i64(v); }) == hex);
    CHECK(read_all(unhex(hex), kAsI64) == value);
    if (value < 0) CHECK(refused(unhex(hex), kAsU64));
  }
}

TEST_CASE("an integer in a longer form than it needs is read all the same") {
  for (const auto* hex : {"cc05", "cd0005", "ce00000005", "cf0000000000000005"}) {
    CHECK(read_all(unhex(hex), kAsU64) == 5);
    CHECK(read_all(unhex(hex), kAsI64) == 5);
  }
  for (const auto* hex : {"d005", "d10005", "d200000005", "d30000000000000005"}) {
    CHECK(read_all(unhex(hex), kAsI64) == 5);
  }
}

TEST_CASE("a bounded integer is refused one above its bound") {
  CHECK(read_all("\x07"s, [](Reader& in) { return in.u64(7); }) == 7);
  CHECK(refused("\x08"s, [](Reader& in) { in.u64(7); }));
}

TEST_CASE("nil, booleans and times have their bytes") {
  CHECK(hex_of([](Writer& out) {
          out.nil().boolean(true).boolean(false).time(WallTime{Micros{-1}});
        }) == "c0c3c2ff");
  const auto bytes = "\xc0\xc3\xc2\xff"s;
  Reader in(bytes);
  CHECK(in.try_nil());
  CHECK_FALSE(in.try_nil());
  CHECK(in.boolean());
  CHECK_FALSE(in.boolean());
  CHECK(in.time() == WallTime{Micros{-1}});
  CHECK(in.ok());
  CHECK_FALSE(in.try_nil());
  CHECK(in.ok());
  CHECK(refused("\xc0"s, [](Reader& at) { at.boolean(); }));
}

TEST_CASE("text, bytes, arrays and maps change form at the sizes of the specification") {
  const auto head = [](auto write, std::size_t size, std::size_t body) {
    Bytes bytes;
    Writer out(bytes);
    write(out, size);
    CHECK(bytes.size() >= body);
    return to_hex(BytesView(bytes).substr(0, bytes.size() - body));
  };
  const auto text = [](Writer& out, std::size_t n) { out.text(std::string(n, 'x')); };
  const auto bin = [](Writer& out, std::size_t n) { out.bin(std::string(n, 'x')); };
  const auto array = [](Writer& out, std::size_t n) { out.array(n); };
  const auto map = [](Writer& out, std::size_t n) { out.map(n); };
  for (const auto& [size, t, b] : std::vector<std::tuple<std::size_t, std::string, std::string>>{
           {0, "a0", "c400"},
           {31, "bf", "c41f"},
           {32, "d920", "c420"},
           {255, "d9ff", "c4ff"},
           {256, "da0100", "c50100"},
           {65535, "daffff", "c5ffff"},
           {65536, "db00010000", "c600010000"}}) {
    CAPTURE(size);
    const std::string body(size, 'x');
    CHECK(head(text, size, size) == t);
    CHECK(head(bin, size, size) == b);
    CHECK(read_all(unhex(t) + body, kAsText) == body);
    CHECK(read_all(unhex(b) + body, kAsBin) == body);
    CHECK(refused(unhex(t) + body, kAsBin));
    CHECK(refused(unhex(b) + body, kAsText));
    if (size > 0) {
      CHECK(refused(unhex(t) + body, [n = size](Reader& in) { in.text(n - 1); }));
      CHECK(refused(unhex(b) + body, [n = size](Reader& in) { in.bin(n - 1); }));
      CHECK(refused(unhex(t) + body.substr(1), kAsText));
      CHECK(refused(unhex(b) + body.substr(1), kAsBin));
    }
  }
  for (const auto& [size, a, m] : std::vector<std::tuple<std::size_t, std::string, std::string>>{
           {0, "90", "80"},
           {15, "9f", "8f"},
           {16, "dc0010", "de0010"},
           {65535, "dcffff", "deffff"},
           {65536, "dd00010000", "df00010000"}}) {
    CAPTURE(size);
    CHECK(head(array, size, 0) == a);
    CHECK(head(map, size, 0) == m);
    const auto count = [n = size](auto read) {
      return [n, read](Reader& in) {
        const auto found = read(in);
        while (!in.at_end()) in.skip();
        return found;
      };
    };
    const Bytes nils(size, '\xc0');
    CHECK(read_all(unhex(a) + nils, count(kAsArray)) == size);
    CHECK(read_all(unhex(m) + nils + nils, count(kAsMap)) == size);
    if (size > 0) {
      CHECK(refused(unhex(a) + nils, [n = size](Reader& in) { in.array(n - 1); }));
      CHECK(refused(unhex(m) + nils + nils, [n = size](Reader& in) { in.map(n - 1); }));
      // A count beyond the bytes that are left.
      CHECK(refused(unhex(a) + nils.substr(1), kAsArray));
      CHECK(refused(unhex(m) + nils + nils.substr(1), kAsMap));
    }
  }
}

TEST_CASE("an id is sixteen bytes and nothing else") {
  const auto id = NodeId::from_halves(0x0102030405060708, 0x090a0b0c0d0e0f10);
  const auto hex = hex_of([&](Writer& out) { out.id(id); });
  CHECK(hex == "c4100102030405060708090a0b0c0d0e0f10");
  CHECK(read_all(unhex(hex), [](Reader& in) { return in.id<NodeId>(); }) == id);
  CHECK(refused("\xc4\x0f"s + Bytes(15, 'x'), [](Reader& in) { in.id<NodeId>(); }));
  CHECK(refused("\xc4\x11"s + Bytes(17, 'x'), [](Reader& in) { in.id<NodeId>(); }));
}

TEST_CASE("a whole value of any kind is passed over undecoded") {
  for (const auto* hex : {"00",
                          "7f",
                          "ff",
                          "e0",
                          "c0",
                          "c2",
                          "c3",
                          "ccff",
                          "cdffff",
                          "ceffffffff",
                          "cfffffffffffffffff",
                          "d080",
                          "d18000",
                          "d280000000",
                          "d38000000000000000",
                          "ca3fc00000",
                          "cb3ff8000000000000",
                          "a0",
                          "a3616263",
                          "d90161",
                          "da000161",
                          "db0000000161",
                          "c400",
                          "c40161",
                          "c5000161",
                          "c60000000161",
                          "90",
                          "920102",
                          "dc00020102",
                          "dd000000020102",
                          "80",
                          "8101a161",
                          "de000101a161",
                          "df0000000101a161",
                          "d40161",
                          "d5016161",
                          "d60161616161",
                          "d7016161616161616161",
                          "d80161616161616161616161616161616161",
                          "c70001",
                          "c7010161",
                          "c800010161",
                          "c9000000010161",
                          "929190810180"}) {
    CAPTURE(hex);
    const auto bytes = unhex(hex);
    CHECK(read_all(bytes, kAsRaw) == bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK(refused(BytesView(bytes).substr(0, size), kAsRaw));
    }
  }
  CHECK(refused("\xc1"s, kAsRaw));
  CHECK(refused("\xc9\xff\xff\xff\xff"s, kAsRaw));
}

TEST_CASE("nesting is passed over to its limit and no deeper") {
  const auto nested = [](std::size_t depth) { return Bytes(depth, '\x91') + "\x01"; };
  CHECK(read_all(nested(limits::kValueDepth), kAsRaw).size() == limits::kValueDepth + 1);
  CHECK(refused(nested(limits::kValueDepth + 1), kAsRaw));
  CHECK(refused(Bytes(1'000'000, '\x91'), kAsRaw));
  Bytes maps;
  for (int i = 0; i < 100'000; ++i) maps += "\x81\x01";
  CHECK(refused(maps, kAsRaw));
  Bytes wide;
  for (int i = 0; i < 10; ++i) wide += "\xdd\xff\xff\xff\xff"s;
  CHECK(refused(wide, kAsRaw));
}

TEST_CASE("fields that a newer version appended are skipped") {
  Bytes bytes;
  Writer(bytes).array(4).u64(1).text("known").map(1).text("new").array(2).nil().boolean(true).u64(
      9);
  Reader in(bytes);
  const auto fields = in.array(16);
  CHECK(in.u64() == 1);
  CHECK(in.text(10) == "known");
  for (std::size_t i = 2; i < fields; ++i) in.skip();
  CHECK(in.ok());
  CHECK(in.at_end());
}

TEST_CASE("random bytes never make a reader leave its bytes") {
  Random random(4);
  std::size_t taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    Bytes bytes(random.below(24), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.next());
    // Exactly as much memory as there are bytes, so that a sanitizer sees one byte too many.
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    Reader in(BytesView(exact.get(), bytes.size()));
    while (in.ok() && !in.at_end()) {
      switch (random.below(9)) {
        case 0: in.u64(); break;
        case 1: in.i64(); break;
        case 2: taken += in.text(100).size(); break;
        case 3: taken += in.bin(100).size(); break;
        case 4: in.array(100); break;
        case 5: in.map(100); break;
        case 6: in.boolean(); break;
        case 7: in.try_nil(); break;
        default: taken += in.raw().size(); break;
      }
    }
    REQUIRE(in.at_end());
  }
  CHECK(taken > 1000);
}

namespace {

// Writes one random value with both writers.
void write_both(Random& random, int depth, Writer& ours,
                msgpack::packer<msgpack::sbuffer>& theirs) {
  const auto bits = random.next() >> random.below(64);
  const std::string bytes(random.below(random.chance(0.9) ? 300 : 70'000), 'b');
  const auto size = static_cast<std::uint32_t>(bytes.size());
  switch (random.below(depth > 0 ? 8 : 6)) {
    case 0: ours.nil(), theirs.pack_nil(); break;
    case 1: ours.boolean(bits & 1), theirs.pack(static_cast<bool>(bits & 1)); break;
    case 2: ours.u64(bits), theirs.pack_uint64(bits); break;
    case 3:
      ours.i64(-static_cast<std::int64_t>(bits >> 1)),
          theirs.pack_int64(-static_cast<std::int64_t>(bits >> 1));
      break;
    case 4: ours.text(bytes), theirs.pack_str(size).pack_str_body(bytes.data(), size); break;
    case 5: ours.bin(bytes), theirs.pack_bin(size).pack_bin_body(bytes.data(), size); break;
    case 6: {
      const auto count = static_cast<std::uint32_t>(random.below(20));
      ours.array(count), theirs.pack_array(count);
      for (std::uint32_t i = 0; i < count; ++i) write_both(random, depth - 1, ours, theirs);
      break;
    }
    default: {
      const auto count = static_cast<std::uint32_t>(random.below(20));
      ours.map(count), theirs.pack_map(count);
      for (std::uint32_t i = 0; i < 2 * count; ++i) write_both(random, depth - 1, ours, theirs);
      break;
    }
  }
}

// Reads the value that `expected` is.
void read_same(Reader& in, const msgpack::object& expected) {
  using msgpack::type::object_type;
  switch (expected.type) {
    case msgpack::type::NIL: REQUIRE(in.try_nil()); break;
    case msgpack::type::BOOLEAN: REQUIRE(in.boolean() == expected.via.boolean); break;
    case msgpack::type::POSITIVE_INTEGER: REQUIRE(in.u64() == expected.via.u64); break;
    case msgpack::type::NEGATIVE_INTEGER: REQUIRE(in.i64() == expected.via.i64); break;
    case msgpack::type::STR:
      REQUIRE(in.text(100'000) == std::string_view(expected.via.str.ptr, expected.via.str.size));
      break;
    case msgpack::type::BIN:
      REQUIRE(in.bin(100'000) == std::string_view(expected.via.bin.ptr, expected.via.bin.size));
      break;
    case msgpack::type::ARRAY:
      REQUIRE(in.array(100) == expected.via.array.size);
      for (std::uint32_t i = 0; i < expected.via.array.size; ++i)
        read_same(in, expected.via.array.ptr[i]);
      break;
    case msgpack::type::MAP:
      REQUIRE(in.map(100) == expected.via.map.size);
      for (std::uint32_t i = 0; i < expected.via.map.size; ++i) {
        read_same(in, expected.via.map.ptr[i].key);
        read_same(in, expected.via.map.ptr[i].val);
      }
      break;
    default: FAIL("a type that was never written");
  }
}

}  // namespace

TEST_CASE("writer and reader agree with msgpack-cxx on random values") {
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    Bytes bytes;
    Writer ours(bytes);
    msgpack::sbuffer buffer;
    msgpack::packer<msgpack::sbuffer> theirs(buffer);
    write_both(random, 3, ours, theirs);
    REQUIRE(bytes == BytesView(buffer.data(), buffer.size()));
    const auto object = msgpack::unpack(buffer.data(), buffer.size());
    Reader in(bytes);
    read_same(in, object.get());
    REQUIRE(in.ok());
    REQUIRE(in.at_end());
    REQUIRE(read_all(bytes, kAsRaw) == bytes);
  }
}
