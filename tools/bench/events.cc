#include "tools/bench/events.h"

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "nodes/node.h"
#include "tools/bench/limits.h"
#include "tools/bench/meeting.h"

namespace headrace::bench {
namespace {

constexpr unsigned kMaxSubscribers = 64;
constexpr std::uint64_t kMaxEvents = 1'000'000'000;
constexpr Millis kPatience{10'000};  // of a publish
constexpr Millis kSilence{2'000};    // after the last publish: nothing more will come
constexpr Millis kPoll{1};
constexpr char kTopic[] = "bench.events";

struct Board {
  MeetingPoint publisher;
  std::atomic<std::uint32_t> published{0};  // all of them
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint32_t> done{0};  // subscribers
  std::array<Tally, kMaxSubscribers> tallies{};
};

Result<void> publish(Board& board, const EventsOptions& options) {
  auto node = Node::open();
  if (!node) return fail(node.error());
  board.publisher.tell(node->endpoint());
  auto all_there = [&] { return node->match_count(kTopic) == options.subscribers; };
  if (auto there = await_that(all_there, kStart, "all subscribers to register"); !there) {
    return there;
  }
  const std::string payload(options.size, 'x');
  std::uint64_t dropped = 0;
  for (std::uint64_t i = 0; i < options.count; ++i) {
    auto published = node->publish(kTopic, {}, payload, kPatience);
    if (!published) return fail(published.error());
    dropped += published->dropped;
  }
  board.dropped = dropped;
  board.published = 1;
  return await(board.done, options.subscribers, kCase, "the subscribers to end");
}

// Until all have come or nothing comes any more; then the time is that of the last seen.
void await_last(const Board& board, const EventsOptions& options, Tally& tally) {
  std::uint64_t seen = 0;
  std::int64_t changed = now_ns();
  while (seen < options.count) {
    std::uint64_t count = tally.count.load(std::memory_order_acquire);
    std::int64_t now = now_ns();
    if (count != seen) {
      seen = count;
      changed = now;
    } else if (board.published != 0 && now - changed > Nanos(kSilence).count()) {
      tally.last_ns = changed;
      return;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Result<void> subscribe(Board& board, const EventsOptions& options, Tally& tally) {
  auto node = join(board.publisher);
  if (!node) return fail(node.error());
  std::atomic<bool> wrong{false};
  auto registration = node->on(kTopic, [&](const Event& event) {
    if (event.payload.size() != options.size) wrong = true;
    // The time before the last is counted: await_last() must not see that one without it.
    if (tally.count.load(std::memory_order_relaxed) + 1 == options.count) tally.end();
    tally.hit();
  });
  if (!registration) return fail(registration.error());
  await_last(board, options, tally);
  registration->unregister();
  ++board.done;
  if (wrong) return fail(Code::kInternal, "an event of the wrong size came");
  return {};
}

EventsResult result_of(const Board& board, const EventsOptions& options) {
  EventsResult result;
  result.delivered_per_s = rate_of(board.tallies.data(), options.subscribers);
  result.dropped = board.dropped;
  result.lost = options.count * options.subscribers;
  for (unsigned i = 0; i < options.subscribers; ++i) {
    result.per_subscriber.push_back(rate_of(&board.tallies[i], 1));
    result.lost -= std::min<std::uint64_t>(board.tallies[i].count, options.count);
  }
  return result;
}

}  // namespace

Result<EventsOptions> checked(EventsOptions options) {
  if (options.size < 1 || options.size > limits::kEventPayloadBytes) {
    return fail(Code::kInvalid, "size " + std::to_string(options.size) + ": give 1 to " +
                                    std::to_string(limits::kEventPayloadBytes) + " bytes");
  }
  if (options.subscribers < 1 || options.subscribers > kMaxSubscribers) {
    return fail(Code::kInvalid, "subscribers " + std::to_string(options.subscribers) +
                                    ": give 1 to " + std::to_string(kMaxSubscribers));
  }
  if (options.count == 0) {
    options.count =
        std::max<std::uint64_t>(default_messages(options.size) / options.subscribers, 2);
  }
  if (options.count < 2 || options.count > kMaxEvents) {
    return fail(Code::kInvalid, "count " + std::to_string(options.count) + ": give 2 to " +
                                    std::to_string(kMaxEvents));
  }
  return options;
}

Result<EventsResult> measure_events(const EventsOptions& given, const Progress& progress) {
  auto options = checked(given);
  if (!options) return fail(options.error());
  auto cpu = [&](unsigned role) { return options->pin ? cpu_for(role) : std::nullopt; };
  Shared<Board> board;
  Crew crew;
  auto started = crew.start("publisher", cpu(0), [&] { return publish(*board, *options); });
  for (unsigned i = 0; started && i < options->subscribers; ++i) {
    started = crew.start("subscriber " + std::to_string(i + 1), cpu(i + 1),
                         [&, i] { return subscribe(*board, *options, board->tallies[i]); });
  }
  if (!started) return fail(started.error());
  auto tick = [&] {
    if (!progress) return;
    std::uint64_t count = 0;
    for (unsigned i = 0; i < options->subscribers; ++i) count += board->tallies[i].count;
    progress("events", static_cast<double>(count) /
                           static_cast<double>(options->count * options->subscribers));
  };
  if (auto ended = crew.wait(kCase, tick); !ended) return fail(ended.error());
  return result_of(*board, *options);
}

nlohmann::json to_json(const EventsOptions& options, const EventsResult& result) {
  return {{"size", options.size},
          {"count", options.count},
          {"subscribers", options.subscribers},
          {"pin", options.pin},
          {"delivered_per_s", result.delivered_per_s},
          {"dropped", result.dropped},
          {"lost", result.lost},
          {"per_subscriber", result.per_subscriber}};
}

}  // namespace headrace::bench
