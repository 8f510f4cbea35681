#include "core/flow/window_sender.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;

namespace {

using Tokens = std::vector<std::uint64_t>;

wire::WindowState state(std::uint64_t counter, std::uint64_t limit, std::uint64_t passed = 0) {
  wire::WindowState out;
  out.session = {7, counter};
  out.sender = 3;
  out.limit = limit;
  out.passed = passed;
  return out;
}

Tokens hear(WindowSender& sender, const wire::WindowState& heard) {
  Tokens back;
  sender.on_state(heard, back);
  return back;
}

struct Ready {
  WindowSender sender{3};
  explicit Ready(std::uint64_t limit) { hear(sender, state(1, limit)); }
};

}  // namespace

TEST_CASE("work without credit is announced once, until the receiver speaks") {
  WindowSender sender(3);
  CHECK_FALSE(sender.collect().announce);
  sender.set_want(5);
  const auto first = sender.collect().announce;
  REQUIRE(first);
  CHECK(first->want == 5);
  CHECK_FALSE(first->session.exists());
  sender.set_want(6);
  CHECK_FALSE(sender.collect().announce);
}

TEST_CASE("a window that is opened anew announces above what was announced before") {
  WindowSender first(3), second(3, 100);
  first.set_want(1);
  second.set_want(1);
  CHECK(first.collect().announce->number < 100);
  CHECK(second.collect().announce->number > 100);
}

TEST_CASE("credit is the limit less what was used, and items are numbered from 1") {
  Ready ready(2);
  auto& sender = ready.sender;
  CHECK(sender.credit() == 2);
  sender.set_want(4);
  const auto item = sender.take_item(11);
  CHECK(item.id() == wire::ItemId{{7, 1}, 1});
  CHECK(item.announce.want == 3);
  CHECK(sender.take_item(12).id().n == 2);
  CHECK(sender.credit() == 0);
  CHECK(sender.flights() == 2);
}

TEST_CASE("limits only grow, whatever order states come in") {
  Ready ready(5);
  hear(ready.sender, state(1, 3));
  CHECK(ready.sender.credit() == 5);
  hear(ready.sender, state(1, 8));
  hear(ready.sender, state(1, 8));
  CHECK(ready.sender.credit() == 8);
}

TEST_CASE("only a higher session replaces one") {
  Ready ready(5);
  ready.sender.take_item(1);
  hear(ready.sender, state(2, 1));
  CHECK(ready.sender.credit() == 1);
  CHECK(ready.sender.take_item(2).id() == wire::ItemId{{7, 2}, 1});
  hear(ready.sender, state(1, 50));
  CHECK(ready.sender.credit() == 0);
}

TEST_CASE("states for another life of the sender are dropped") {
  WindowSender sender(4);
  hear(sender, state(1, 5));
  CHECK(sender.credit() == 0);
}

TEST_CASE("what has passed and is not listed comes back") {
  Ready ready(10);
  for (std::uint64_t token = 1; token <= 6; ++token) ready.sender.take_item(token);
  auto heard = state(1, 10, 5);
  CHECK(hear(ready.sender, heard).empty());  // not full: says nothing about items
  heard.full = true;
  heard.held = {{1, 1, 2}, {1, 5, 1}};
  CHECK(hear(ready.sender, heard) == Tokens{3, 4});
  CHECK(hear(ready.sender, heard).empty());
  CHECK(ready.sender.flies({{7, 1}, 6}));
}

TEST_CASE("items of an older session come back unless they are listed") {
  Ready ready(3);
  for (std::uint64_t token = 1; token <= 3; ++token) ready.sender.take_item(token);
  auto heard = state(2, 3);
  heard.full = true;
  heard.held = {{1, 2, 1}};
  CHECK(hear(ready.sender, heard) == Tokens{1, 3});
  CHECK(ready.sender.end_flight({{7, 1}, 2}) == 2);
  CHECK_FALSE(ready.sender.end_flight({{7, 1}, 2}));
}

TEST_CASE("items held by the receiver's earlier life come back, though numbers look alike") {
  Ready ready(3);
  ready.sender.take_item(1);
  auto heard = state(1, 3);
  heard.session.receiver = 8;
  heard.full = true;
  heard.held = {{1, 1, 1}};
  CHECK(hear(ready.sender, heard) == Tokens{1});
}

TEST_CASE("credit asked back is used first, and what is left is burned") {
  Ready ready(10);
  auto heard = state(1, 10);
  heard.ask = 6;
  hear(ready.sender, heard);
  for (std::uint64_t token = 1; token <= 7; ++token) ready.sender.take_item(token);
  const auto out = ready.sender.collect();
  REQUIRE(out.announce);
  CHECK(out.announce->burned == 3);
  CHECK(out.announce->used == 10);
  CHECK(ready.sender.credit() == 0);
  ready.sender.on_period();  // repeated until the receiver says that it knows
  CHECK(ready.sender.collect().announce->query);
  heard = state(1, 10, 7);
  heard.burned = 3;
  hear(ready.sender, heard);
  ready.sender.on_period();
  CHECK_FALSE(ready.sender.collect().announce);
}

TEST_CASE("echo and prove are answered") {
  Ready ready(2);
  auto heard = state(1, 2);
  heard.echo = heard.prove = true;
  hear(ready.sender, heard);
  const auto out = ready.sender.collect();
  REQUIRE(out.announce);
  CHECK(out.announce->limit == 2);
  CHECK_FALSE(out.announce->query);
  REQUIRE(out.mark);
  CHECK(out.mark->last() == 0);
  CHECK(out.mark->announce.number > out.announce->number);
}

TEST_CASE("two periods without news make a sender with flights ask, and mark the lost tail") {
  Ready ready(2);
  ready.sender.take_item(1);
  ready.sender.on_period();
  auto out = ready.sender.collect();
  CHECK_FALSE(out.announce);
  CHECK_FALSE(out.mark);
  ready.sender.on_period();
  out = ready.sender.collect();
  REQUIRE(out.announce);
  CHECK(out.announce->query);
  REQUIRE(out.mark);
  CHECK(out.mark->last() == 1);
}

TEST_CASE("a sender believed to face a dead receiver is silent and keeps its numbers") {
  Ready ready(3);
  ready.sender.take_item(1);
  ready.sender.take_item(2);
  Tokens back;
  ready.sender.on_dead(back);
  CHECK(back == Tokens{1, 2});
  CHECK(ready.sender.credit() == 0);
  ready.sender.set_want(1);
  for (int i = 0; i < 5; ++i) ready.sender.on_period();
  CHECK_FALSE(ready.sender.period_needed());
  CHECK_FALSE(ready.sender.collect().announce);
  ready.sender.on_alive();
  const auto out = ready.sender.collect();
  REQUIRE(out.announce);
  CHECK(out.announce->query);
  CHECK(ready.sender.take_item(3).id().n == 3);
}

TEST_CASE("at rest a sender needs no periods") {
  Ready ready(2);
  CHECK_FALSE(ready.sender.period_needed());
  const auto item = ready.sender.take_item(1);
  CHECK(ready.sender.period_needed());
  hear(ready.sender, state(1, 2, 1));
  CHECK(ready.sender.period_needed());
  ready.sender.end_flight(item.id());
  CHECK_FALSE(ready.sender.period_needed());
}

TEST_CASE("numbers that no honest receiver states are not believed") {
  Ready ready(2);
  hear(ready.sender, state(1, 1'000'000));
  CHECK(ready.sender.credit() == limits::kHighWaterMark);
  ready.sender.take_item(1);
  auto heard = state(1, 5'000, 2);  // passed more than was sent
  heard.full = true;
  CHECK(hear(ready.sender, heard).empty());
  ready.sender.set_want(1'000'000);
  CHECK(ready.sender.want() == limits::kHighWaterMark);
}

TEST_CASE("what was taken back from a receiver that lists it is named, until it lists none") {
  Ready ready(8);
  auto& sender = ready.sender;
  for (std::uint64_t token = 1; token <= 4; ++token) sender.take_item(token);
  auto heard = state(1, 8, 4);
  heard.full = true;
  heard.held = {{1, 1, 4}};
  hear(sender, heard);
  CHECK(sender.over(heard).empty());  // all of them fly
  Tokens back;
  sender.on_dead(back);
  REQUIRE(back.size() == 4);
  sender.on_alive();
  const auto fresh = sender.take_item(5).id();
  heard.held = {{1, 2, 4}};  // 1 has ended meanwhile, 5 is new
  heard.passed = 5;
  hear(sender, heard);
  CHECK(sender.flies(fresh));
  CHECK(sender.over(heard) == std::vector<wire::HeldRun>{{1, 2, 3}});
  CHECK(sender.over(heard) == std::vector<wire::HeldRun>{{1, 2, 3}});  // the first may be lost
  heard.held = {{1, 5, 1}};
  CHECK(sender.over(heard).empty());
  heard.held = {{1, 2, 4}};
  CHECK(sender.over(heard).empty());  // late: it was answered
}
