#include "nodes/runtime/identity.h"

#include <sys/stat.h>
#include <zmq.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/store/memory_store.h"
#include "nodes/runtime/incarnation.h"
#include "nodes/runtime/name.h"
#include "tests/unit/nodes/support.h"

using namespace headrace;
using namespace headrace::runtime;
using headrace::test::TemporaryDirectory;

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("a key is kept: the same node at every start, readable by its owner alone") {
  TemporaryDirectory directory;
  const auto first = keep_identity(directory.path());
  REQUIRE(first);
  const auto again = keep_identity(directory.path());
  REQUIRE(again);
  CHECK(again->id == first->id);
  CHECK(again->secret_key == first->secret_key);
  struct stat file {};
  REQUIRE(::stat((directory.path() / "identity.key").c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
}

TEST_CASE("without a directory each start is somebody new") {
  const auto one = make_identity();
  const auto two = make_identity();
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->id != two->id);
}

TEST_CASE("the id is the head of the BLAKE2b hash of the public key") {
  // By Python: hashlib.blake2b(bytes(range(32)), digest_size=32).hexdigest()[:32]; the key file wants a pair that
  // belongs together, so the hash is compared through b2sum for a key made here.
  const auto identity = make_identity();
  REQUIRE(identity);
  std::array<unsigned char, 32> key{};
  REQUIRE(zmq_z85_decode(key.data(), identity->public_key.c_str()) != nullptr);
  TemporaryDirectory directory;
  write_file(directory.path() / "key",
             std::string(reinterpret_cast<char*>(key.data()), key.size()));
  const auto command = "b2sum -l 256 " + (directory.path() / "key").string();
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::array<char, 33> hex{};
  REQUIRE(std::fgets(hex.data(), hex.size(), pipe.get()) != nullptr);
  CHECK(identity->id.hex() == hex.data());
}

TEST_CASE("a damaged key file is an error that names it, and stays as it is") {
  TemporaryDirectory directory;
  REQUIRE(keep_identity(directory.path()));
  const auto file = directory.path() / "identity.key";
  const auto good = read_file(file);
  const auto other = make_identity();
  REQUIRE(other);
  auto swapped = good;
  swapped.replace(swapped.find("secret ") + 7, 40, other->secret_key);
  for (const auto& bad : {std::string{}, good.substr(0, good.size() - 1), good + "x", swapped,
                          "headrace identity 2" + good.substr(19)}) {
    write_file(file, bad);
    const auto refused = keep_identity(directory.path());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::kStore);
    CHECK(refused.error().message.find(file.string()) != std::string::npos);
    CHECK(read_file(file) == bad);
  }
  write_file(file, good);
  CHECK(keep_identity(directory.path()));
}

TEST_CASE("a name is two words that follow from the id") {
  const auto id = NodeId::from_halves(0xFEDCBA9876543210ULL, 1);
  CHECK(name_of(id) == name_of(id));
  const auto name = name_of(NodeId::from_halves(0, 0));
  CHECK(name == "agile-alder");
  CHECK(name_of(NodeId::from_halves(~0ULL, 0)) == "witty-wren");
}

TEST_CASE("an incarnation is above every earlier one, whatever the clock says, and is on disk") {
  MemoryStore store;
  const WallTime noon{std::chrono::hours(24 * 365)};
  const auto first = begin_incarnation(store, noon);
  REQUIRE(first);
  CHECK(*first == 24ULL * 365 * 3600 * 1000);
  CHECK(store.unsynced() == 0);
  const auto clock_went_back = begin_incarnation(store, noon - std::chrono::hours(1));
  CHECK(clock_went_back.value() == *first + 1);
  CHECK(begin_incarnation(store, noon, *first + 100).value() == *first + 101);
  CHECK(begin_incarnation(noon) == *first);
}
