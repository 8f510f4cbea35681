#include "tools/bench/idle.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "nodes/node.h"
#include "tools/bench/meeting.h"
#include "tools/bench/scratch.h"
#include "tools/bench/usage.h"

namespace headrace::bench {
namespace {

constexpr Millis kShortest{100};
constexpr Millis kLongest{3'600'000};

struct Board {
  MeetingPoint node;
  std::atomic<std::int64_t> began_ns{0};
  std::atomic<std::uint32_t> over{0};
  IdleResult result;
};

Result<void> idle(Board& board, const IdleOptions& options, const std::string& data) {
  NodeOptions node_options;
  node_options.data = data;
  auto node = Node::open(std::move(node_options));
  if (!node) return fail(node.error());
  board.node.tell(node->endpoint());
  auto met = [&] { return node->members().size() == 2; };
  if (auto there = await_that(met, kStart, "the peer"); !there) return there;
  const auto before = cpu_time();
  board.began_ns = now_ns();
  std::this_thread::sleep_for(options.time);
  const auto spent_us = static_cast<double>((cpu_time() - before).count());
  board.result.cpu_percent = 1e5 * spent_us / static_cast<double>(now_ns() - board.began_ns);
  auto memory = memory_of(getpid());
  if (!memory) return fail(memory.error());
  board.result.rss_mb = memory->rss_mb;
  board.over = 1;
  return {};
}

Result<void> accompany(Board& board, const IdleOptions& options) {
  auto node = join(board.node);
  if (!node) return fail(node.error());
  return await(board.over, 1, options.time + kCase, "the node to end");
}

}  // namespace

Result<IdleOptions> checked(IdleOptions options) {
  if (options.time < kShortest || options.time > kLongest) {
    return fail(Code::kInvalid, "seconds: give 0.1 to 3600");
  }
  if (auto good = check_directory(options.directory); !good) return fail(good.error());
  return options;
}

Result<IdleResult> measure_idle(const IdleOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  auto scratch = Scratch::make(options->directory);
  if (!scratch) return fail(scratch.error());
  Shared<Board> board;
  Crew crew;
  auto started = crew.start("node", std::nullopt,
                            [&] { return idle(*board, *options, (*scratch)->file("node")); });
  if (started) {
    started = crew.start("peer", std::nullopt, [&] { return accompany(*board, *options); });
  }
  if (!started) return fail(started.error());
  auto tick = [&] {
    if (!progress || board->began_ns == 0) return;
    const auto spent = static_cast<double>(now_ns() - board->began_ns);
    progress("idle", std::min(1.0, spent / static_cast<double>(Nanos(options->time).count())));
  };
  if (auto ended = crew.wait(options->time + kCase, tick); !ended) return fail(ended.error());
  return board->result;
}

nlohmann::json to_json(const IdleOptions& options, const IdleResult& result) {
  return {{"seconds", static_cast<double>(options.time.count()) / 1e3},
          {"directory", options.directory.string()},
          {"rss_mb", result.rss_mb},
          {"cpu_percent", result.cpu_percent}};
}

}  // namespace headrace::bench
