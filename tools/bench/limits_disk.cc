#include <fcntl.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/bench/limits.h"
#include "tools/bench/scratch.h"

namespace headrace::bench {
namespace {

constexpr Millis kSlowDisk{60'000};  // beyond the time asked for: opening, and a last slow sync
constexpr std::size_t kValueBytes = 200;
constexpr std::size_t kAppendBytes = 4096;
constexpr unsigned kMaxBatch = 100'000;

// One role that works for options.disk_time, counting into `tally`; how many per second it did.
Result<double> measure(const LimitsOptions& options, std::string what, const Progress& progress,
                       const std::function<Result<void>(const Scratch&, Tally&)>& work) {
  auto scratch = Scratch::make(options.directory);
  if (!scratch) return fail(scratch.error());
  Shared<Tally> tally;
  Crew crew;
  auto started = crew.start(what, std::nullopt, [&] { return work(**scratch, *tally); });
  if (!started) return fail(started.error());
  auto tick = [&] {
    if (!progress || tally->first_ns == 0) return;
    double spent = static_cast<double>(now_ns() - tally->first_ns) / 1e9;
    progress(what, std::min(1.0, spent * 1e3 / static_cast<double>(options.disk_time.count())));
  };
  if (auto ended = crew.wait(options.disk_time + kSlowDisk, tick); !ended)
    return fail(ended.error());
  return static_cast<double>(tally->count) * 1e9 /
         static_cast<double>(tally->last_ns - tally->first_ns);
}

// Repeats `once`, which does `amount` at a time, until the time is over.
Result<void> repeat(Tally& tally, Millis time, unsigned amount,
                    const std::function<Result<void>()>& once) {
  std::int64_t began = now_ns();
  tally.first_ns = began;
  do {
    if (auto done = once(); !done) return done;
    tally.count += amount;
    tally.end();
  } while (tally.last_ns - began < Nanos(time).count());
  return {};
}

Result<void> put_batches(const std::string& path, Millis time, unsigned batch, Tally& tally) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* opened = nullptr;
  if (auto status = leveldb::DB::Open(options, path, &opened); !status.ok()) {
    return fail(Code::kStore, status.ToString());
  }
  std::unique_ptr<leveldb::DB> db(opened);
  leveldb::WriteOptions synced;
  synced.sync = true;
  std::string value(kValueBytes, 'v');
  std::uint64_t number = 0;
  return repeat(tally, time, batch, [&]() -> Result<void> {
    leveldb::WriteBatch writes;
    for (unsigned i = 0; i < batch; ++i) {
      char key[24];
      std::snprintf(key, sizeof key, "k%012llu", static_cast<unsigned long long>(number++));
      writes.Put(key, value);
    }
    if (auto status = db->Write(synced, &writes); !status.ok())
      return fail(Code::kStore, status.ToString());
    return {};
  });
}

Result<void> append_synced(const std::string& path, Millis time, Tally& tally) {
  int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return fail(Code::kStore, path + ": " + std::strerror(errno));
  std::string block(kAppendBytes, 'x');
  Result<void> result = repeat(tally, time, 1, [&]() -> Result<void> {
    ssize_t written = write(file, block.data(), block.size());
    if (written != static_cast<ssize_t>(block.size()) || fdatasync(file) != 0) {
      return fail(Code::kStore, path + ": " + std::strerror(errno));
    }
    return {};
  });
  close(file);
  return result;
}

}  // namespace

Result<double> measure_leveldb(const LimitsOptions& given, unsigned batch,
                               const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  if (batch < 1 || batch > kMaxBatch) {
    return fail(Code::kInvalid, "batch " + std::to_string(batch) + ": give 1 to 100000");
  }
  return measure(*options, "LevelDB, batches of " + std::to_string(batch), progress,
                 [&](const Scratch& scratch, Tally& tally) {
                   return put_batches(scratch.file("db"), options->disk_time, batch, tally);
                 });
}

Result<double> measure_fdatasync(const LimitsOptions& given, const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  return measure(*options, "fdatasync", progress, [&](const Scratch& scratch, Tally& tally) {
    return append_synced(scratch.file("appended"), options->disk_time, tally);
  });
}

}  // namespace headrace::bench
