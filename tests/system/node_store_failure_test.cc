// A node whose disk fails under it.
#include "core/store/env.h"
#include "nodes/runtime/setup.h"
#include "tests/system/node_support.h"
#include "tests/unit/store/fault_env.h"

using namespace headrace;
using namespace headrace::test;

namespace {

struct Fixture {
  TemporaryDirectory directory;
  PreadEnv files;
  FaultEnv env{files};
  Slot<std::vector<std::string>> notes;

  Node open() {
    runtime::InternalOptions internal;
    internal.store.env = &env;
    internal.note = [this](const std::string& text) {
      notes.change([&](auto& all) { all.push_back(text); });
    };
    NodeOptions options;
    options.data = directory.path();
    return must(runtime::open_node(options, std::move(internal)));
  }
};

}  // namespace

TEST_CASE("after a failed write an add ends unknown, and the node goes on by itself") {
  Fixture fixture;
  auto node = fixture.open();
  Slot<int> ran;
  const auto consumer = must(node.consume("t", [&](RunningJob&) {
    ran.change([](int& count) { ++count; });
    return JobOutcome::ok();
  }));
  Slot<int> heard;
  const auto registration =
      must(node.on("event", [&](const Event&) { heard.change([](int& count) { ++count; }); }));
  const auto before = must(node.jobs().add(spec("t")));
  must(before.result(kLong));
  REQUIRE(eventually([&] { return !node.members().empty(); }));
  const auto incarnation = node.members().front().incarnation;

  auto job = spec("t");
  job.id = JobId::from_halves(1, 1);
  fixture.env.fail_next_sync();
  const auto failed = node.jobs().add(job);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == Code::kOutcomeUnknown);
  CHECK(failed.error().message.find(job.id->hex()) != std::string::npos);

  // The same job again, as the error says; while the store opens it may fail with kStore.
  std::optional<JobHandle> handle;
  REQUIRE(eventually([&] {
    auto added = node.jobs().add(job);
    if (added) handle = std::move(*added);
    return handle.has_value();
  }));
  CHECK(handle->id() == *job.id);
  must(handle->result(kLong));
  CHECK(must(before.info()).state == JobState::kSucceeded);
  CHECK(node.members().front().incarnation > incarnation);
  REQUIRE(eventually([&] { return node.match_count("event") == 1; }));
  must(node.publish("event"));
  CHECK(heard.wait([](int count) { return count == 1; }));
}

TEST_CASE("a wait for a job's end outlives a failure of the store") {
  Fixture fixture;
  auto node = fixture.open();
  const auto waited = must(node.jobs().add(spec("later")));
  std::thread failing([&] {
    fixture.env.fail_next_sync();
    CHECK_FALSE(node.jobs().add(spec("x")));
    auto consumer = must(node.consume("later", [](RunningJob&) { return JobOutcome::ok("late"); }));
    consumer.keep();
  });
  CHECK(must(waited.result(kLong)) == Value("late"));
  failing.join();
}

TEST_CASE(
    "others see a node whose store failed alive, in a later incarnation, with its consumers") {
  Fixture fixture;
  auto node = fixture.open();
  TemporaryDirectory directory;
  auto other = must(Node::open({.data = directory.path(), .join = {node.endpoint()}}));
  must(other.wait_ready(kLong));
  const auto consumer = must(node.consume("t", [](RunningJob&) { return JobOutcome::ok(); }));
  must(must(other.jobs().add(spec("t"))).result(kLong));
  fixture.env.fail_next_sync();
  REQUIRE_FALSE(node.jobs().add(spec("x")));
  must(must(other.jobs().add(spec("t"))).result(kLong));
}
