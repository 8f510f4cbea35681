#include "core/peer/commit_gate.h"

#include <catch2/catch.hpp>

#include "core/base/random.h"

namespace headrace {
namespace {

using job::After;

const NodeId kOne = NodeId::from_halves(1, 1);
const NodeId kTwo = NodeId::from_halves(2, 2);

Send data(const std::string& text, NodeId to = kOne) { return {to, wire::Lane::kData, text}; }
Send control(const std::string& text, NodeId to = kOne) { return {to, wire::Lane::kControl, text}; }

std::vector<std::string> release(CommitGate& gate) {
  std::vector<Action> actions;
  gate.release(actions);
  std::vector<std::string> texts;
  for (const auto& action : actions) texts.push_back(std::get<Send>(action).message);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("What waits for nothing or for memory leaves at once, in order") {
  CommitGate gate;
  gate.add(control("a"), After::kNothing, 1);
  gate.add(data("b"), After::kMemory, 1);
  CHECK(release(gate) == Texts{"a", "b"});
  CHECK(release(gate).empty());
}

TEST_CASE("An action leaves when its commit has reached its level, no earlier") {
  CommitGate gate;
  gate.add(control("os"), After::kOs, 5);
  gate.add(control("disk"), After::kDisk, 5);
  gate.reached(4, 4);
  CHECK(release(gate).empty());
  gate.reached(5, 4);
  CHECK(release(gate) == Texts{"os"});
  gate.reached(5, 5);
  CHECK(release(gate) == Texts{"disk"});
}

TEST_CASE("Before the commit that ends an opening is synced, nothing leaves") {
  CommitGate gate;
  gate.hold_until_synced(1);
  gate.add(control("nothing"), After::kNothing, 1);
  gate.add(data("memory"), After::kMemory, 1);
  gate.add(control("os"), After::kOs, 2);
  gate.reached(2, 0);
  CHECK(release(gate).empty());
  gate.reached(2, 1);
  CHECK(release(gate) == Texts{"nothing", "memory"});
  gate.reached(2, 2);
  CHECK(release(gate) == Texts{"os"});
  gate.add(control("free"), After::kNothing, 3);
  CHECK(release(gate) == Texts{"free"});
}

TEST_CASE("An action of a turn that wrote nothing leaves at once if all before it is through") {
  CommitGate gate;
  gate.reached(7, 7);
  gate.add(control("a"), After::kDisk, 7);
  CHECK(release(gate) == Texts{"a"});
}

TEST_CASE("Reports that come late change nothing") {
  CommitGate gate;
  gate.reached(5, 5);
  gate.reached(3, 2);
  gate.add(control("a"), After::kDisk, 5);
  CHECK(release(gate) == Texts{"a"});
}

TEST_CASE("On a data lane nothing overtakes what waits, while other lanes go on") {
  CommitGate gate;
  gate.add(data("first"), After::kDisk, 3);
  gate.add(data("second"), After::kNothing, 3);
  gate.add(data("third"), After::kOs, 3);
  gate.add(control("free"), After::kNothing, 3);
  gate.add(data("other", kTwo), After::kNothing, 3);
  CHECK(release(gate) == Texts{"free", "other"});
  gate.reached(3, 2);
  CHECK(release(gate).empty());
  gate.reached(3, 3);
  gate.add(data("fourth"), After::kNothing, 3);
  CHECK(release(gate) == Texts{"first", "second", "third", "fourth"});
}

TEST_CASE("What waits for a process that is gone goes to none that takes its place") {
  CommitGate gate;
  gate.add(control("old ack"), After::kDisk, 1);
  gate.add(data("old item"), After::kOs, 1);
  gate.add(data("other item", kTwo), After::kDisk, 1);
  gate.forget_mail(kOne);
  gate.add(data("new item"), After::kNothing, 1);
  CHECK(release(gate) == Texts{"new item"});
  gate.reached(1, 1);
  CHECK(release(gate) == Texts{"other item"});
}

TEST_CASE("A message that had to wait behind a later commit still holds back those behind it") {
  CommitGate gate;
  gate.add(data("a"), After::kDisk, 3);
  gate.add(control("later", kTwo), After::kDisk, 5);
  gate.add(data("b"), After::kNothing, 5);  // waits for a; stands behind "later"
  gate.reached(5, 3);
  CHECK(release(gate) == Texts{"a"});
  gate.add(data("c"), After::kNothing, 5);
  CHECK(release(gate).empty());
  gate.reached(5, 5);
  CHECK(release(gate) == Texts{"later", "b", "c"});
}

TEST_CASE(
    "Whatever waits for whatever, a data lane keeps its order and nothing leaves before its "
    "commit") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    CommitGate gate;
    CommitNumber commit = 0, written = 0, synced = 0;
    struct Asked {
      After after;
      CommitNumber commit;
    };
    std::map<std::string, Asked> asked;
    std::map<NodeId, int> last;
    std::map<NodeId, int> count;
    std::size_t released = 0;
    const auto check = [&] {
      std::vector<Action> actions;
      gate.release(actions);
      for (const auto& action : actions) {
        const auto& send = std::get<Send>(action);
        const auto& ask = asked.at(send.message);
        REQUIRE((ask.after < After::kOs ||
                 ask.commit <= (ask.after == After::kDisk ? synced : written)));
        ++released;
        if (send.lane != wire::Lane::kData) continue;
        const int number = std::stoi(send.message.substr(send.message.find(' ')));
        REQUIRE(number == last[send.to] + 1);
        last[send.to] = number;
      }
    };
    for (int turn = 0; turn < 60; ++turn) {
      if (random.chance(0.7)) ++commit;
      for (auto n = random.below(6); n > 0; --n) {
        const NodeId to = random.chance(0.5) ? kOne : kTwo;
        const auto after = static_cast<After>(random.below(4));
        const bool lane = random.chance(0.7);
        const auto text = (lane ? to.hex() + " " + std::to_string(++count[to])
                                : "c" + std::to_string(asked.size()));
        asked[text] = {after, commit};
        gate.add(lane ? data(text, to) : control(text, to), after, commit);
      }
      check();
      if (random.chance(0.6)) {
        written = static_cast<CommitNumber>(
            random.between(static_cast<std::int64_t>(written), static_cast<std::int64_t>(commit)));
        synced = static_cast<CommitNumber>(
            random.between(static_cast<std::int64_t>(synced), static_cast<std::int64_t>(written)));
        gate.reached(written, synced);
      }
    }
    written = synced = commit;
    gate.reached(written, synced);
    check();
    REQUIRE(released == asked.size());
  }
}

TEST_CASE(
    "When the store fails, adds that wait are unknown by id, other answers carry the reason, the "
    "rest is gone") {
  CommitGate gate;
  const auto id = JobId::from_halves(1, 2);
  gate.add(AnswerCall{1, Answer(Added{{id}, Level::kDisk})}, After::kDisk, 1);
  gate.add(AnswerCall{2, Answer(JobInfo{})}, After::kOs, 1);
  gate.add(data("x"), After::kDisk, 1);
  const auto answers = gate.abandon({Code::kStore, "disk broke"});
  REQUIRE(answers.size() == 2);
  for (const auto& answer : answers) {
    REQUIRE_FALSE(answer.answer);
    if (answer.call == 1) {
      CHECK(answer.answer.error().code == Code::kOutcomeUnknown);
      CHECK(answer.answer.error().message.find(id.hex()) != std::string::npos);
    } else {
      CHECK(answer.answer.error().code == Code::kStore);
    }
  }
  gate.reached(1, 1);
  CHECK(release(gate).empty());
}

TEST_CASE("An answer that waits for nothing stands, even if the store fails in the same turn") {
  CommitGate gate;
  gate.add(AnswerCall{1, Answer(JobInfo{})}, After::kNothing, 1);
  const auto answers = gate.abandon({Code::kStore, "disk broke"});
  REQUIRE(answers.size() == 1);
  CHECK(answers.front().answer);
}

TEST_CASE("An unknown outcome names the ids, the first three of many") {
  std::vector<JobId> ids;
  for (std::uint64_t i = 1; i <= 5; ++i) ids.push_back(JobId::from_halves(0, i));
  const auto error = unknown_outcome(ids, "why");
  CHECK(error.code == Code::kOutcomeUnknown);
  CHECK(error.message.find(ids[2].hex()) != std::string::npos);
  CHECK(error.message.find(ids[3].hex()) == std::string::npos);
  CHECK(error.message.find("2 more") != std::string::npos);
}

}  // namespace headrace
