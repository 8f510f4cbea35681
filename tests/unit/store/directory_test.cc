// Who may have the directory, and what a killed process leaves in it.
#include "core/store/directory.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/store/fixture.h"

using namespace headrace;
namespace fs = std::filesystem;

namespace {

constexpr const char* kDirectory = "HEADRACE_TEST_DIRECTORY";
constexpr int kAcks = 3;  // the child's descriptor: one byte for each synced batch

std::string row_name(int number) { return "row" + std::to_string(number); }

// This program again, writing to the store in `directory` until it is killed. A fresh process
// rather than a fork: LevelDB has threads.
class Writer {
 public:
  explicit Writer(const fs::path& directory) {
    const auto program =
        fs::read_symlink("/proc/self/exe");  // under its own name, which the tests ask for
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(ends[1], kAcks);
      ::setenv(kDirectory, directory.c_str(), 1);
      ::execl(program.c_str(), program.c_str(), "[.writer]", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    acks_ = ends[0];
  }
  ~Writer() {
    if (pid_ > 0) kill();
    ::close(acks_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  pid_t pid() const { return pid_; }

  // Waits for `count` more acknowledgements; fails after 30 s without one.
  void wait_for(int count) {
    while (count-- > 0) {
      pollfd ready{acks_, POLLIN, 0};
      REQUIRE(::poll(&ready, 1, 30'000) == 1);
      char byte = 0;
      REQUIRE(::read(acks_, &byte, 1) == 1);
      ++acknowledged_;
    }
  }
  // SIGKILL; what was acknowledged before it, all told.
  int kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    char byte = 0;
    while (::read(acks_, &byte, 1) == 1) ++acknowledged_;
    return acknowledged_;
  }

 private:
  pid_t pid_ = -1;
  int acks_ = -1;
  int acknowledged_ = 0;
};

std::string refusal(const fs::path& path, Code code) {
  const auto opened = LevelDbStore::open(path, test::roomy());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == code);
  return opened.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a writing process, for the tests that kill one", "[.writer]") {
  const auto store = test::open_store(std::getenv(kDirectory));
  for (int number = 0;; ++number) {
    WriteBatch batch;
    batch.put(row_name(number), "first");
    batch.put(row_name(number) + "b", "second");
    REQUIRE(store->write(batch, true));
    REQUIRE(::write(kAcks, "+", 1) == 1);
  }
}

TEST_CASE("every synced batch is whole after kill -9, and the directory is free at once") {
  for (const int count : {1, 20, 60}) {
    const test::TempDir directory;
    Writer writer(directory.path());
    writer.wait_for(count);
    const int acknowledged = writer.kill();
    REQUIRE(acknowledged >= count);
    const auto found = test::rows(*test::open_store(directory.path()));
    for (int number = 0; number < acknowledged; ++number) {
      REQUIRE(found.count(row_name(number)) == 1);
      REQUIRE(found.count(row_name(number) + "b") == 1);
    }
    CHECK(found.size() % 2 == 0);
  }
}

TEST_CASE("a directory in use is refused by the process and command that hold it") {
  const test::TempDir directory;
  Writer writer(directory.path());
  writer.wait_for(1);
  const auto message = refusal(directory.path(), Code::kInUse);
  CHECK(contains(message, directory.path().string()));
  CHECK(contains(message, "process " + std::to_string(writer.pid()) + " (test_unit_store)"));
  writer.wait_for(1);  // and the holder is none the worse
}

TEST_CASE("a directory in use by the same process is refused too, until it is closed") {
  const test::TempDir directory;
  auto store = test::open_store(directory.path());
  const auto message = refusal(directory.path(), Code::kInUse);
  CHECK(contains(message, "process " + std::to_string(::getpid())));
  store.reset();
  CHECK(test::open_store(directory.path()));
}

TEST_CASE("a stale holder file does not keep anybody out") {
  const test::TempDir directory;
  test::write_file(directory.path() / "holder", "1\n");
  CHECK(test::open_store(directory.path()));
}

TEST_CASE("a directory is made with its parents, and for its owner only") {
  const test::TempDir directory;
  const auto deep = directory.path() / "a" / "b";
  test::open_store(deep / "");
  CHECK((fs::status(deep).permissions() & (fs::perms::group_all | fs::perms::others_all)) ==
        fs::perms::none);
}

TEST_CASE("a path that cannot be a directory is refused with the path and the way out") {
  const test::TempDir directory;
  const auto file = directory.path() / "file";
  test::write_file(file, "mine");
  CHECK(refusal(file, Code::kInvalid) ==
        file.string() + " is not a directory; name another data directory");
  const auto below = refusal(file / "x", Code::kInvalid);
  CHECK(contains(below, file.string()));
  CHECK(contains(below, "name another data directory"));
  CHECK(test::read_file(file) == "mine");
  CHECK(contains(refusal("/proc/headrace/x", Code::kInvalid), "/proc/headrace cannot be created"));
  CHECK(contains(refusal("/proc/self", Code::kInvalid), "/proc/self cannot be written"));
  CHECK(contains(refusal("", Code::kInvalid), "name a directory"));
}

TEST_CASE("a db folder of another program is refused") {
  const test::TempDir directory;
  {
    const auto store = test::open_store(directory.path());
    WriteBatch batch;
    batch.erase("mformat");
    batch.put("theirs", "1");
    REQUIRE(store->write(batch, true));
  }
  CHECK(contains(refusal(directory.path(), Code::kStore), "not ours"));
}
