#include "core/store/space.h"

#include "tests/unit/store/fixture.h"

using namespace headrace;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kReserve = 1000;
constexpr std::uint64_t kBallast = 4096;
constexpr std::uint64_t kPlenty = 1'000'000;

// A disk whose free space is what the test says, less the ballast that lies on it.
struct Disk {
  test::TempDir directory{};
  std::uint64_t free = kPlenty;
  std::uint64_t total = kPlenty;

  bool ballast() const { return fs::exists(directory.path() / "ballast"); }
  SpaceProbe probe() {
    return [this](const fs::path&) -> Result<DiskSpace> {
      const auto used = ballast() ? kBallast : 0;
      return DiskSpace{total, free > used ? free - used : 0};
    };
  }
};

}  // namespace

TEST_CASE("there is room down to the reserve and not one byte below") {
  Disk disk;
  SpaceGuard guard(disk.directory.path(), kReserve, 0, disk.probe());
  disk.free = kReserve;
  REQUIRE(guard.look());
  CHECK(guard.room());
  disk.free = kReserve - 1;
  REQUIRE(guard.look());
  CHECK_FALSE(guard.room());
}

TEST_CASE("room comes back by itself, a quarter above the reserve") {
  Disk disk;
  SpaceGuard guard(disk.directory.path(), kReserve, 0, disk.probe());
  disk.free = 0;
  REQUIRE(guard.look());
  disk.free = kReserve * 5 / 4 - 1;
  REQUIRE(guard.look());
  CHECK_FALSE(guard.room());
  disk.free += 1;
  REQUIRE(guard.look());
  CHECK(guard.room());
}

TEST_CASE("the reserve of a small disk is a tenth of it") {
  Disk disk;
  disk.total = 5000;
  SpaceGuard guard(disk.directory.path(), kReserve, 0, disk.probe());
  disk.free = 500;
  REQUIRE(guard.look());
  CHECK(guard.room());
  disk.free = 499;
  REQUIRE(guard.look());
  CHECK_FALSE(guard.room());
}

TEST_CASE("the ballast is given up below half the reserve, is no room, and is laid again") {
  Disk disk;
  SpaceGuard guard(disk.directory.path(), kReserve, kBallast, disk.probe());
  REQUIRE(guard.look());
  REQUIRE(fs::file_size(disk.directory.path() / "ballast") == kBallast);

  disk.free = kBallast + kReserve / 2;
  REQUIRE(guard.look());
  CHECK(disk.ballast());
  CHECK_FALSE(guard.room());
  disk.free -= 1;
  CHECK(guard.look()->free == kBallast + kReserve / 2 - 1);
  CHECK_FALSE(disk.ballast());
  REQUIRE(guard.look());
  CHECK_FALSE(guard.room());

  disk.free = kBallast + kReserve * 5 / 4;
  REQUIRE(guard.look());
  CHECK(guard.room());
  CHECK(disk.ballast());
}

TEST_CASE("opening on a full disk gives the ballast up, on another it stays") {
  Disk disk;
  REQUIRE(SpaceGuard(disk.directory.path(), kReserve, kBallast, disk.probe()).look());
  REQUIRE(disk.ballast());
  SpaceGuard(disk.directory.path(), kReserve, kBallast, disk.probe());
  CHECK(disk.ballast());
  disk.free = kBallast + kReserve - 1;
  SpaceGuard(disk.directory.path(), kReserve, kBallast, disk.probe());
  CHECK_FALSE(disk.ballast());
}

TEST_CASE("a disk that does not answer changes nothing") {
  Disk disk;
  bool answers = true;
  SpaceGuard guard(disk.directory.path(), kReserve, 0, [&](const fs::path& path) {
    return answers ? disk.probe()(path) : Result<DiskSpace>(fail(Code::kStore, "gone"));
  });
  answers = false;
  CHECK(guard.look().error().message == "gone");
  CHECK(guard.room());
}

TEST_CASE(
    "a store below its reserve has no room, still writes, and has room again when space is freed") {
  Disk disk;
  auto options = test::roomy();
  options.reserve = kReserve;
  options.space = disk.probe();
  const auto store = test::open_store(disk.directory.path(), options);
  CHECK(store->room());
  disk.free = 10;
  CHECK(test::put(*store, "a", "1"));
  CHECK_FALSE(store->room());
  CHECK(test::put(*store, "b", "1"));
  disk.free = kPlenty;
  CHECK(store->stats()->room);
  CHECK(store->room());
}

TEST_CASE("the space of a real disk is told, and of a path that is not there it is an error") {
  const test::TempDir directory;
  const auto space = disk_space(directory.path());
  REQUIRE(space);
  CHECK(space->total > 0);
  CHECK(space->free <= space->total);
  CHECK(disk_space(directory.path() / "missing").error().code == Code::kStore);
}
