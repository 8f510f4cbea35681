#include "tools/bench/latency.h"

#include <nlohmann/json.hpp>

#include "nodes/node.h"
#include "tools/bench/meeting.h"
#include "tools/bench/stats.h"

namespace headrace::bench {
namespace {

constexpr std::uint32_t kMaxRoundTrips = 10'000'000;
constexpr Millis kPatience{10'000};  // for one answer
constexpr char kThere[] = "bench.there";
constexpr char kBack[] = "bench.back";

struct Board {
  MeetingPoint asker;
  std::atomic<std::uint32_t> failed{0};  // a publish of either
  std::atomic<std::uint32_t> done{0};    // round trips
  std::atomic<std::uint32_t> over{0};
};

bool publish(Node& node, const char* topic, BytesView payload) {
  auto published = node.publish(topic, {}, payload, kPatience);
  return published && published->destinations == 1 && published->dropped == 0;
}

Result<void> echo(Board& board) {
  auto node = join(board.asker);
  if (!node) return fail(node.error());
  auto registration = node->on(kThere, [&](const Event& event) {
    if (!publish(*node, kBack, event.payload)) board.failed = 1;
  });
  if (!registration) return fail(registration.error());
  return await(board.over, 1, kCase, "the asker to end");
}

// Each answer's callback sends the next event, so that one is under way at a time and no thread but
// those of the nodes takes part.
class Asker final {
 public:
  Asker(Board& board, const LatencyOptions& options, SharedArray<std::int64_t>& samples)
      : board_(board),
        payload_(options.size, 'x'),
        warm_up_(options.count / 10),
        samples_(samples) {}

  Result<void> run() {
    auto opened = Node::open();
    if (!opened) return fail(opened.error());
    Node node = std::move(*opened);
    auto registration = node.on(kBack, [&](const Event&) { take_answer(node); });
    if (!registration) return fail(registration.error());
    board_.asker.tell(node.endpoint());
    auto there = [&] { return node.match_count(kThere) == 1; };
    if (auto ready = await_that(there, kStart, "the other node to register"); !ready) return ready;
    ask(node);
    auto result = wait();
    board_.over = 1;
    return result;
  }

 private:
  void ask(Node& node) {
    asked_ns_ = now_ns();
    if (!publish(node, kThere, payload_)) board_.failed = 1;
  }

  void take_answer(Node& node) {
    const auto spent = now_ns() - asked_ns_;
    if (answers_++ >= warm_up_) {
      samples_[board_.done] = spent;
      ++board_.done;
    }
    if (board_.done < samples_.size()) ask(node);
  }

  Result<void> wait() {
    std::uint32_t seen = 0;
    while (seen < samples_.size()) {
      auto moved = [&] { return board_.done > seen || board_.failed != 0; };
      if (auto state = await_that(moved, kPatience, "an answer"); !state) return state;
      if (board_.failed != 0) return fail(Code::kTimeout, "an event could not be published");
      seen = board_.done;
    }
    return {};
  }

  Board& board_;
  const std::string payload_;
  const std::uint32_t warm_up_;
  SharedArray<std::int64_t>& samples_;
  std::uint32_t answers_ = 0;
  std::int64_t asked_ns_ = 0;
};

double micros(const SharedArray<std::int64_t>& samples, double share) {
  return static_cast<double>(percentile(
             std::vector<std::int64_t>(samples.begin(), samples.begin() + samples.size()), share)) /
         1e3;
}

}  // namespace

Result<LatencyOptions> checked(LatencyOptions options) {
  if (options.size < 1 || options.size > limits::kEventPayloadBytes) {
    return fail(Code::kInvalid, "size " + std::to_string(options.size) + ": give 1 to " +
                                    std::to_string(limits::kEventPayloadBytes) + " bytes");
  }
  if (options.count < 1 || options.count > kMaxRoundTrips) {
    return fail(Code::kInvalid, "count " + std::to_string(options.count) + ": give 1 to " +
                                    std::to_string(kMaxRoundTrips));
  }
  return options;
}

Result<LatencyResult> measure_latency(const LatencyOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  auto cpu = [&](unsigned role) { return options->pin ? cpu_for(role) : std::nullopt; };
  Shared<Board> board;
  SharedArray<std::int64_t> samples(options->count);
  Crew crew;
  auto started =
      crew.start("asker", cpu(0), [&] { return Asker(*board, *options, samples).run(); });
  if (started) started = crew.start("echo", cpu(1), [&] { return echo(*board); });
  if (!started) return fail(started.error());
  auto tick = [&] {
    if (progress) progress("round trips", static_cast<double>(board->done) / options->count);
  };
  if (auto ended = crew.wait(kCase, tick); !ended) return fail(ended.error());
  return LatencyResult{micros(samples, 0.50), micros(samples, 0.99), micros(samples, 0.999)};
}

nlohmann::json to_json(const LatencyOptions& options, const LatencyResult& result) {
  return {{"size", options.size},    {"count", options.count},  {"pin", options.pin},
          {"p50_us", result.p50_us}, {"p99_us", result.p99_us}, {"p999_us", result.p999_us}};
}

}  // namespace headrace::bench
