#include <array>
#include <zmq.hpp>

#include "tools/bench/limits.h"
#include "tools/bench/stats.h"

namespace headrace::bench {
namespace {

constexpr unsigned kMaxSubscribers = 64;
constexpr std::size_t kMaxSamples = 200'000;
constexpr Millis kIdle{10'000};   // a receiver to which nothing comes for this long gives up
constexpr Millis kCase{300'000};  // no measurement takes longer
constexpr Millis kStart{10'000};  // for all roles to be there
constexpr char kWarmUp[] = "";  // an empty message: shows a subscriber that its subscription stands

struct Board {
  std::atomic<std::uint32_t> port{0};
  std::atomic<std::uint32_t> ready{0};
  std::array<Tally, kMaxSubscribers> tallies{};
};

std::optional<unsigned> cpu(const LimitsOptions& options, unsigned role) {
  return options.pin ? cpu_for(role) : std::nullopt;
}

// Only a socket whose last message must still leave lingers: a subscriber whose publisher is gone
// would otherwise wait to send its subscription.
zmq::socket_t make_socket(zmq::context_t& context, zmq::socket_type type,
                          Millis linger = Millis{0}) {
  zmq::socket_t socket(context, type);
  socket.set(zmq::sockopt::rcvtimeo, static_cast<int>(kIdle.count()));
  socket.set(zmq::sockopt::sndtimeo, static_cast<int>(kIdle.count()));
  socket.set(zmq::sockopt::linger, static_cast<int>(linger.count()));
  return socket;
}

// Binds a free port and tells the others.
void bind(zmq::socket_t& socket, std::atomic<std::uint32_t>& port) {
  socket.bind("tcp://127.0.0.1:*");
  std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
  port = static_cast<std::uint32_t>(std::stoul(endpoint.substr(endpoint.rfind(':') + 1)));
}

Result<void> connect(zmq::socket_t& socket, const std::atomic<std::uint32_t>& port) {
  if (auto there = await(port, 1, kStart, "the other side to bind"); !there) return there;
  socket.connect("tcp://127.0.0.1:" + std::to_string(port.load()));
  return {};
}

Result<void> send_all(zmq::socket_t& socket, const LimitsOptions& options) {
  std::string body(options.size, 'x');
  for (std::uint64_t i = 0; i < options.messages; ++i) {
    if (!socket.send(zmq::buffer(body))) return fail(Code::kTimeout, "nobody takes the messages");
  }
  return {};
}

// Counts messages of the right size until all have come. Empty ones are warm-up: the first is
// answered on `ready`.
Result<void> receive_all(zmq::socket_t& socket, const LimitsOptions& options, Tally& tally,
                         std::atomic<std::uint32_t>& ready) {
  zmq::message_t message;
  bool warm = false;
  while (tally.count.load(std::memory_order_relaxed) < options.messages) {
    if (!socket.recv(message)) {
      return fail(Code::kTimeout, "only " + std::to_string(tally.count.load()) + " of " +
                                      std::to_string(options.messages) + " messages came");
    }
    if (message.size() == 0) {
      if (!std::exchange(warm, true)) ++ready;
      continue;
    }
    if (message.size() != options.size)
      return fail(Code::kInternal, "a message of the wrong size came");
    tally.hit();
  }
  tally.end();
  return {};
}

Result<double> finish(Crew& crew, const Board& board, unsigned receivers,
                      const LimitsOptions& options, std::string_view what,
                      const Progress& progress) {
  auto tick = [&] {
    if (!progress) return;
    std::uint64_t count = 0;
    for (unsigned i = 0; i < receivers; ++i) count += board.tallies[i].count;
    progress(what, static_cast<double>(count) / static_cast<double>(options.messages * receivers));
  };
  if (auto ended = crew.wait(kCase, tick); !ended) return fail(ended.error());
  return rate_of(board.tallies.data(), receivers);
}

Result<void> publish(Board& board, const LimitsOptions& options, unsigned subscribers) {
  zmq::context_t context;
  zmq::socket_t socket = make_socket(context, zmq::socket_type::pub, kIdle);
  socket.set(zmq::sockopt::xpub_nodrop, true);
  bind(socket, board.port);
  // Subscriptions travel by themselves: send into the void until every subscriber has heard
  // something.
  std::int64_t deadline = now_ns() + Nanos(kStart).count();
  while (!await(board.ready, subscribers, Millis{5}, "subscribers")) {
    if (now_ns() > deadline) return fail(Code::kTimeout, "a subscriber does not hear");
    if (!socket.send(zmq::buffer(kWarmUp, 0)))
      return fail(Code::kTimeout, "nobody takes the messages");
  }
  return send_all(socket, options);
}

struct RoundTripBoard {
  std::atomic<std::uint32_t> port{0}, done{0};
  std::array<std::int64_t, kMaxSamples> samples_ns{};
};

Result<void> echo(RoundTripBoard& board) {
  zmq::context_t context;
  zmq::socket_t socket = make_socket(context, zmq::socket_type::router);
  bind(socket, board.port);
  zmq::message_t route, body;
  for (;;) {
    if (!socket.recv(route) || !socket.recv(body)) return fail(Code::kTimeout, "no request came");
    if (body.size() == 0) return {};  // the other side is done
    if (!socket.send(route, zmq::send_flags::sndmore) ||
        !socket.send(body, zmq::send_flags::none)) {
      return fail(Code::kTimeout, "the answer cannot be sent");
    }
  }
}

Result<void> ping(RoundTripBoard& board, const LimitsOptions& options) {
  zmq::context_t context;
  zmq::socket_t socket = make_socket(context, zmq::socket_type::dealer, kIdle);
  if (auto connected = connect(socket, board.port); !connected) return connected;
  std::string body(options.size, 'x');
  zmq::message_t answer;
  std::uint32_t warm_up = options.round_trips / 10;
  for (std::uint32_t i = 0; i < warm_up + options.round_trips; ++i) {
    std::int64_t began = now_ns();
    if (!socket.send(zmq::buffer(body)) || !socket.recv(answer) || answer.size() != body.size()) {
      return fail(Code::kTimeout, "no answer came back");
    }
    if (i < warm_up) continue;
    board.samples_ns[i - warm_up] = now_ns() - began;
    board.done = i - warm_up + 1;
  }
  socket.send(zmq::buffer(kWarmUp, 0));
  return {};
}

}  // namespace

Result<double> measure_push_pull(const LimitsOptions& given, const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  Shared<Board> board;
  Crew crew;
  auto receiving = crew.start("receiver", cpu(*options, 1), [&]() -> Result<void> {
    zmq::context_t context;
    zmq::socket_t socket = make_socket(context, zmq::socket_type::pull);
    bind(socket, board->port);
    return receive_all(socket, *options, board->tallies[0], board->ready);
  });
  if (!receiving) return fail(receiving.error());
  auto sending = crew.start("sender", cpu(*options, 0), [&]() -> Result<void> {
    zmq::context_t context;
    zmq::socket_t socket = make_socket(context, zmq::socket_type::push, kIdle);
    if (auto connected = connect(socket, board->port); !connected) return connected;
    return send_all(socket, *options);
  });
  if (!sending) return fail(sending.error());
  return finish(crew, *board, 1, *options, "libzmq PUSH/PULL", progress);
}

Result<double> measure_pub_sub(const LimitsOptions& given, unsigned subscribers,
                               const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  if (subscribers < 1 || subscribers > kMaxSubscribers) {
    return fail(Code::kInvalid, "subscribers " + std::to_string(subscribers) + ": give 1 to 64");
  }
  options->messages = std::max<std::uint64_t>(options->messages / subscribers, 2);
  Shared<Board> board;
  Crew crew;
  for (unsigned i = 0; i < subscribers; ++i) {
    auto started = crew.start(
        "subscriber " + std::to_string(i + 1), cpu(*options, i + 1), [&, i]() -> Result<void> {
          zmq::context_t context;
          zmq::socket_t socket = make_socket(context, zmq::socket_type::sub);
          socket.set(zmq::sockopt::subscribe, "");
          if (auto connected = connect(socket, board->port); !connected) return connected;
          return receive_all(socket, *options, board->tallies[i], board->ready);
        });
    if (!started) return fail(started.error());
  }
  auto publishing = crew.start("publisher", cpu(*options, 0),
                               [&] { return publish(*board, *options, subscribers); });
  if (!publishing) return fail(publishing.error());
  return finish(crew, *board, subscribers, *options, "libzmq PUB/SUB", progress);
}

Result<RoundTrip> measure_round_trip(const LimitsOptions& given, const Progress& progress) {
  Result<LimitsOptions> options = checked(given);
  if (!options) return fail(options.error());
  Shared<RoundTripBoard> board;
  Crew crew;
  if (auto started = crew.start("echo", cpu(*options, 1), [&] { return echo(*board); }); !started) {
    return fail(started.error());
  }
  if (auto started = crew.start("ping", cpu(*options, 0), [&] { return ping(*board, *options); });
      !started) {
    return fail(started.error());
  }
  auto tick = [&] {
    if (progress)
      progress("libzmq round trip", static_cast<double>(board->done) / options->round_trips);
  };
  if (auto ended = crew.wait(kCase, tick); !ended) return fail(ended.error());
  std::vector<std::int64_t> samples(board->samples_ns.begin(),
                                    board->samples_ns.begin() + options->round_trips);
  return RoundTrip{static_cast<double>(percentile(samples, 0.50)) / 1e3,
                   static_cast<double>(percentile(samples, 0.99)) / 1e3};
}

}  // namespace headrace::bench
