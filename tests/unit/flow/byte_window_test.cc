#include "core/flow/byte_window.h"

#include <catch2/catch.hpp>
#include <deque>

#include "core/base/random.h"

using namespace headrace;
using Admission = ByteWindowSender::Admission;

namespace {

MonoTime at(std::int64_t ms) { return MonoTime{Millis{ms}}; }

struct Lane {
  ByteWindowSender sender{3};
  ByteWindowReceiver receiver;

  explicit Lane(std::uint64_t window = 100) : receiver(7, window) {
    REQUIRE(sender.admit(1, at(0)) == Admission::kWait);
    settle(at(0));
  }
  // Queries to the receiver, states to the sender. True if there was a state.
  bool settle(MonoTime now) {
    const auto out = sender.collect();
    if (out.query) receiver.on_query(3, *out.query);
    if (out.mark) receiver.on_mark(3, *out.mark);
    const auto state = receiver.collect(now);
    if (state) sender.on_state(*state, now);
    return state.has_value();
  }
  bool send(std::uint64_t bytes, MonoTime now) {
    REQUIRE(sender.admit(bytes, now) == Admission::kSend);
    return receiver.on_frame(3, sender.use(bytes));
  }
};

}  // namespace

TEST_CASE("a lane begins when the receiver answers the first query") {
  ByteWindowSender sender(3);
  ByteWindowReceiver receiver(7, 100);
  CHECK_FALSE(receiver.collect(at(0)));
  CHECK(sender.admit(10, at(0)) == Admission::kWait);
  const auto query = sender.collect().query;
  REQUIRE(query);
  CHECK_FALSE(query->session.exists());
  receiver.on_query(3, *query);
  const auto state = receiver.collect(at(0));
  REQUIRE(state);
  CHECK(state->session == wire::Session{7, 1});
  CHECK(sender.on_state(*state, at(1)));
  CHECK(sender.room() == 100);
}

TEST_CASE("bytes under way never pass the window") {
  Lane lane;
  CHECK(lane.send(60, at(1)));
  CHECK(lane.send(40, at(1)));
  CHECK(lane.sender.admit(1, at(1)) == Admission::kWait);
  CHECK(lane.receiver.held() == 100);
}

TEST_CASE("a message above the window goes alone, when nothing is outstanding") {
  Lane lane;
  CHECK(lane.send(10, at(1)));
  CHECK(lane.sender.admit(500, at(1)) == Admission::kWait);
  lane.settle(at(1));
  lane.receiver.release(10);
  CHECK(lane.settle(at(1)));  // at once: something waits, and all is released
  CHECK(lane.send(500, at(1)));
  CHECK(lane.sender.admit(1, at(1)) == Admission::kWait);
}

TEST_CASE("a state goes out when half of the window was released since the last") {
  Lane lane;
  CHECK(lane.send(100, at(1)));
  lane.receiver.release(49);
  CHECK_FALSE(lane.receiver.collect(at(1)));
  lane.receiver.release(1);
  const auto state = lane.receiver.collect(at(1));
  REQUIRE(state);
  CHECK(state->limit == 150);
  CHECK(state->released == 50);
  CHECK_FALSE(lane.receiver.collect(at(1)));
}

TEST_CASE("while it holds back, a receiver says each 20 ms that callbacks progress") {
  Lane lane;
  CHECK(lane.send(100, at(1)));
  CHECK(lane.receiver.wake_at() == kNever);
  lane.receiver.on_progress();
  const auto due = lane.receiver.wake_at();
  CHECK(due == at(20));  // the last state went out at 0
  CHECK_FALSE(lane.receiver.collect(at(19)));
  const auto state = lane.receiver.collect(at(20));
  REQUIRE(state);
  CHECK(state->progress == 1);
  CHECK(lane.receiver.wake_at() == kNever);
}

TEST_CASE("a full window that has not moved for 50 ms is stalled until it moves") {
  Lane lane;
  CHECK(lane.send(100, at(1)));
  CHECK(lane.sender.stall_at() == kNever);
  CHECK(lane.sender.admit(10, at(10)) == Admission::kWait);
  CHECK(lane.sender.stall_at() == at(60));
  CHECK(lane.settle(at(30)));  // shows that the bytes have passed
  CHECK(lane.sender.stall_at() == at(80));
  lane.receiver.on_query(3, {lane.sender.session(), true});
  CHECK(lane.settle(at(40)));  // an answer without movement is none
  CHECK(lane.sender.admit(10, at(79)) == Admission::kWait);
  CHECK(lane.sender.admit(10, at(80)) == Admission::kStalled);
  CHECK(lane.sender.admit(10, at(1000)) == Admission::kStalled);
  lane.receiver.on_progress();
  CHECK(lane.settle(at(1000)));
  CHECK(lane.sender.admit(10, at(1001)) == Admission::kWait);
  CHECK(lane.sender.admit(10, at(1050)) == Admission::kStalled);
  lane.receiver.release(50);
  CHECK(lane.settle(at(1060)));
  CHECK(lane.sender.admit(10, at(1061)) == Admission::kSend);
}

TEST_CASE("a lane that is being opened is given 5 s before it is stalled") {
  ByteWindowSender sender(3);
  CHECK(sender.admit(10, at(100)) == Admission::kWait);
  CHECK(sender.stall_at() == at(5'100));
  CHECK(sender.admit(10, at(5'099)) == Admission::kWait);
  CHECK(sender.admit(10, at(5'100)) == Admission::kStalled);
}

TEST_CASE("an idle lane is not stalled however long it rests") {
  Lane lane;
  CHECK(lane.send(100, at(1)));
  CHECK(lane.sender.admit(10, at(10'000)) == Admission::kWait);
  CHECK_FALSE(lane.sender.stalled(at(10'049)));
}

TEST_CASE("a gap is lost bytes, which free the window") {
  Lane lane;
  lane.sender.use(30);
  CHECK(lane.send(20, at(1)));
  CHECK(lane.receiver.lost() == 30);
  CHECK(lane.receiver.held() == 20);
  lane.receiver.release(20);
  CHECK(lane.settle(at(1)));
  CHECK(lane.sender.outstanding() == 0);
  CHECK(lane.sender.room() == 100);
}

TEST_CASE("a frame that comes after it was given up as lost is not taken in") {
  Lane lane;
  const auto late = lane.sender.use(30);
  CHECK(lane.send(20, at(1)));
  CHECK_FALSE(lane.receiver.on_frame(3, late));
  CHECK(lane.receiver.held() == 20);
}

TEST_CASE("a lost tail shows by the mark, after which nothing is sent") {
  Lane lane;
  lane.sender.use(30);
  CHECK(lane.sender.period_needed());
  lane.sender.on_period();
  CHECK_FALSE(lane.settle(at(100)));
  lane.sender.on_period();
  CHECK(lane.settle(at(200)));
  CHECK(lane.receiver.lost() == 30);
  CHECK(lane.sender.outstanding() == 0);
  CHECK_FALSE(lane.sender.period_needed());
}

TEST_CASE("a new life of either end begins a session") {
  Lane lane;
  CHECK(lane.send(60, at(1)));
  ByteWindowSender reborn(4);
  CHECK(reborn.admit(1, at(2)) == Admission::kWait);
  lane.receiver.on_query(4, *reborn.collect().query);
  auto state = lane.receiver.collect(at(2));
  REQUIRE(state);
  CHECK(state->session == wire::Session{7, 2});
  CHECK(state->limit == 40);  // what the old life left is still held
  CHECK(reborn.on_state(*state, at(2)));
  CHECK_FALSE(lane.sender.on_state(*state, at(2)));
  lane.receiver.release(60);
  state = lane.receiver.collect(at(3));
  REQUIRE(state);
  CHECK(state->limit == 100);
  CHECK(state->released == 0);

  ByteWindowReceiver restarted(8, 100);
  CHECK_FALSE(restarted.on_frame(4, reborn.use(10)));
  state = restarted.collect(at(4));
  REQUIRE(state);
  CHECK(reborn.on_state(*state, at(4)));
  CHECK(reborn.session() == wire::Session{8, 1});
  CHECK(reborn.room() == 100);
}

TEST_CASE("what a dishonest sender sends over the window is not taken in") {
  Lane lane;
  CHECK(lane.send(100, at(1)));
  CHECK_FALSE(lane.receiver.on_frame(3, {lane.sender.session(), 100, 50}));
  CHECK(lane.receiver.held() == 100);
  CHECK(lane.receiver.lost() == 50);
}

TEST_CASE("a lane keeps its window, stays alive and comes to rest under losses and delays") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    constexpr std::uint64_t kWindow = 1000;
    ByteWindowSender sender(3);
    ByteWindowReceiver receiver(7, kWindow);
    std::deque<wire::LaneHead> data;
    std::vector<wire::LaneState> states;
    std::vector<wire::LaneQuery> queries;
    std::deque<std::uint64_t> held;
    std::uint64_t taken = 0, sent = 0, largest = 0;
    const double loss = random.chance(0.5) ? 0.3 : 0;
    std::int64_t ms = 0;
    const auto turn = [&](bool want, bool lossy) {
      ++ms;
      const std::uint64_t size = 1 + random.below(random.chance(0.05) ? 3000 : 200);
      if (want && sender.admit(size, at(ms)) == Admission::kSend) {
        data.push_back(sender.use(size));
        sent += size;
        largest = std::max(largest, size);
      }
      if (ms % 100 == 0 && sender.period_needed()) sender.on_period();
      const auto out = sender.collect();
      if (out.query && !(lossy && random.chance(loss))) queries.push_back(*out.query);
      if (!data.empty() && random.chance(0.7)) {
        const auto head = data.front();
        data.pop_front();
        if (!(lossy && random.chance(loss)) && receiver.on_frame(3, head)) {
          held.push_back(head.size);
          taken += head.size;
        }
      } else if (out.mark && data.empty()) {
        receiver.on_mark(3, *out.mark);
      }
      if (!queries.empty() && random.chance(0.5)) {
        receiver.on_query(3, queries.back());
        if (random.chance(0.8)) queries.pop_back();
      }
      if (!held.empty() && random.chance(0.5)) {
        receiver.release(held.front());
        held.pop_front();
      }
      const auto state = receiver.collect(at(ms));
      if (state && !(lossy && random.chance(loss))) states.push_back(*state);
      if (!states.empty() && random.chance(0.6)) {
        const auto i = random.below(states.size());
        sender.on_state(states[i], at(ms));
        if (random.chance(0.9)) states.erase(states.begin() + static_cast<std::ptrdiff_t>(i));
      }
      REQUIRE(receiver.held() <= std::max(kWindow, largest));
      REQUIRE((held.size() <= 1 || receiver.held() <= kWindow));
    };
    for (int i = 0; i < 3000; ++i) turn(true, true);
    const auto before = sent;
    for (int i = 0; i < 1000; ++i) turn(true, false);
    REQUIRE(sent > before + 5 * kWindow);
    for (int i = 0; i < 2000; ++i) turn(false, false);
    REQUIRE(receiver.held() == 0);
    REQUIRE(sender.outstanding() == 0);
    REQUIRE_FALSE(sender.period_needed());
    REQUIRE(receiver.wake_at() == kNever);
    REQUIRE(taken + receiver.lost() == sent);
  }
}
