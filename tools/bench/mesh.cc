#include "tools/bench/mesh.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "nodes/runtime/setup.h"
#include "tools/bench/meeting.h"
#include "tools/bench/usage.h"

namespace headrace::bench {
namespace {

constexpr std::size_t kFewest = 2;
constexpr std::size_t kMost = 500;
constexpr Millis kShortest{100};
constexpr Millis kLongest{3'600'000};
constexpr Millis kForming{180'000};

struct Spent {
  double fds = 0;
  double rss_mb = 0;
  double bytes_per_s = 0;
  double messages_per_s = 0;
  double cpu_percent = 0;
  std::uint32_t not_alive = 0;
};

struct Board {
  MeetingPoint first;
  std::atomic<std::uint32_t> complete{0};  // nodes that know all
  std::atomic<std::int64_t> formed_ns{0};
  std::atomic<std::uint32_t> looking{0};  // the mesh stands: measure
  std::atomic<std::uint32_t> measured{0};
  std::array<Spent, kMost> spent{};
};

std::size_t alive(const Node& node) {
  const auto members = node.members();
  return static_cast<std::size_t>(std::count_if(
      members.begin(), members.end(), [](const Member& one) { return one.state == "alive"; }));
}

// A look copies the view, so that all of them together must not be a load.
Millis look_every(const MeshOptions& options) { return Millis{10} + Millis{options.nodes / 2}; }

double open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<double>(std::distance(begin(all), end(all)) - 1);  // but for the look itself
}

// For a while in which nothing happens, but for what the nodes do by themselves.
Result<Spent> look_at_itself(const transport::Traffic& traffic, Millis time) {
  const auto cpu = cpu_time();
  const std::uint64_t bytes = traffic.sent_bytes;
  const std::uint64_t frames = traffic.sent_frames;
  const auto began = now_ns();
  std::this_thread::sleep_for(time);
  const auto seconds = static_cast<double>(now_ns() - began) / 1e9;
  Spent spent;
  spent.cpu_percent = static_cast<double>((cpu_time() - cpu).count()) / 1e4 / seconds;
  spent.bytes_per_s = static_cast<double>(traffic.sent_bytes - bytes) / seconds;
  spent.messages_per_s = static_cast<double>(traffic.sent_frames - frames) / seconds;
  spent.fds = open_descriptors();
  const auto memory = memory_of(getpid());
  if (!memory) return fail(memory.error());
  spent.rss_mb = memory->rss_mb;
  return spent;
}

Result<void> take_part(Board& board, const MeshOptions& options, std::size_t place) {
  const auto traffic = std::make_shared<transport::Traffic>();
  NodeOptions node_options;
  node_options.beacon = false;
  if (place > 0) {
    auto first = board.first.wait();
    if (!first) return fail(first.error());
    node_options.join = {*first};
  }
  auto node = runtime::open_node(std::move(node_options), {.traffic = traffic});
  if (!node) return fail(node.error());
  if (place == 0) board.first.tell(node->endpoint());
  while (alive(*node) < options.nodes) std::this_thread::sleep_for(look_every(options));
  if (++board.complete == options.nodes) board.formed_ns = now_ns();
  if (auto stands = await(board.looking, 1, kForming, "the mesh"); !stands) return stands;
  auto spent = look_at_itself(*traffic, options.time);
  if (!spent) return fail(spent.error());
  spent->not_alive = static_cast<std::uint32_t>(options.nodes - alive(*node));
  board.spent[place] = *spent;
  ++board.measured;
  // Nobody leaves while another still looks.
  return await(board.measured, static_cast<std::uint32_t>(options.nodes), kForming, "the others");
}

template <typename Get>
MeshResult::Figure figure(const Board& board, std::size_t nodes, Get get) {
  MeshResult::Figure figure;
  for (std::size_t i = 0; i < nodes; ++i) {
    figure.mean += get(board.spent[i]) / static_cast<double>(nodes);
    figure.most = std::max(figure.most, get(board.spent[i]));
  }
  return figure;
}

MeshResult sum_up(const Board& board, const MeshOptions& options, std::int64_t began_ns) {
  const auto of = [&](auto member) {
    return figure(board, options.nodes, [=](const Spent& spent) { return spent.*member; });
  };
  MeshResult result;
  result.formed_ms = static_cast<double>(board.formed_ns - began_ns) / 1e6;
  result.fds = of(&Spent::fds);
  result.rss_mb = of(&Spent::rss_mb);
  result.idle_bytes_per_s = of(&Spent::bytes_per_s);
  result.idle_messages_per_s = of(&Spent::messages_per_s);
  result.cpu_percent = of(&Spent::cpu_percent);
  for (std::size_t i = 0; i < options.nodes; ++i) result.false_deaths += board.spent[i].not_alive;
  return result;
}

nlohmann::json to_json(const MeshResult::Figure& figure) {
  return {{"mean", figure.mean}, {"most", figure.most}};
}

}  // namespace

Result<MeshOptions> checked(MeshOptions options) {
  if (options.nodes < kFewest || options.nodes > kMost) {
    return fail(Code::kInvalid, "nodes " + std::to_string(options.nodes) + ": give " +
                                    std::to_string(kFewest) + " to " + std::to_string(kMost));
  }
  if (options.time < kShortest || options.time > kLongest) {
    return fail(Code::kInvalid, "seconds: give 0.1 to 3600");
  }
  return options;
}

Result<MeshResult> measure_mesh(const MeshOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  Shared<Board> board;
  Crew crew;
  const auto began = now_ns();
  for (std::size_t place = 0; place < options->nodes; ++place) {
    auto started = crew.start("node " + std::to_string(place), std::nullopt,
                              [&, place] { return take_part(*board, *options, place); });
    if (!started) return fail(started.error());
  }
  const auto tick = [&] {
    const auto nodes = static_cast<double>(options->nodes);
    if (board->formed_ns != 0) board->looking = 1;
    if (!progress) return;
    if (board->looking == 0) return progress("forming", board->complete / nodes);
    const auto spent = static_cast<double>(now_ns() - board->formed_ns);
    progress("idle", std::min(1.0, spent / static_cast<double>(Nanos(options->time).count())));
  };
  if (auto ended = crew.wait(options->time + 2 * kForming, tick); !ended)
    return fail(ended.error());
  return sum_up(*board, *options, began);
}

nlohmann::json to_json(const MeshOptions& options, const MeshResult& result) {
  return {{"nodes", options.nodes},
          {"seconds", static_cast<double>(options.time.count()) / 1e3},
          {"formed_ms", result.formed_ms},
          {"fds", to_json(result.fds)},
          {"rss_mb", to_json(result.rss_mb)},
          {"idle_bytes_per_s", to_json(result.idle_bytes_per_s)},
          {"idle_messages_per_s", to_json(result.idle_messages_per_s)},
          {"cpu_percent", to_json(result.cpu_percent)},
          {"false_deaths", result.false_deaths}};
}

}  // namespace headrace::bench
