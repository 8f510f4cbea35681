// The end of a node, whatever is going on.
#include <csignal>
#include <future>
#include <thread>

#include "tests/system/node_support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("closing ends what others wait for with kClosed, and handles find a closed node") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  auto handle = must(node.jobs().add(spec("nobody")));
  auto waiting = std::async(std::launch::async, [&] { return handle.result(); });
  auto registration = must(node.on("a", [](const Event&) {}));
  auto consumer = must(node.consume("b", [](RunningJob&) { return JobOutcome::ok(); }));
  must(node.close());
  must(node.close());
  CHECK(waiting.get().error().code == Code::kClosed);
  CHECK(handle.info().error().code == Code::kClosed);
  CHECK(node.jobs().add(spec("t")).error().code == Code::kClosed);
  CHECK(node.jobs().add_async(spec("t"), [](const Result<JobHandle>&) {}).error().code ==
        Code::kClosed);
  CHECK(node.publish("a").error().code == Code::kClosed);
  CHECK(node.on("a", [](const Event&) {}).error().code == Code::kClosed);
  CHECK(node.consume("b", [](RunningJob&) { return JobOutcome::ok(); }).error().code ==
        Code::kClosed);
  CHECK(node.wait_ready().error().code == Code::kClosed);
  consumer.stop();
}

TEST_CASE("handles may outlive their node") {
  TemporaryDirectory directory;
  std::optional<JobHandle> handle;
  std::optional<Registration> registration;
  std::optional<Consumer> consumer;
  {
    auto node = open_owner(directory);
    handle = must(node.jobs().add(spec("nobody")));
    registration = must(node.on("a", [](const Event&) {}));
    consumer = must(node.consume("b", [](RunningJob&) { return JobOutcome::ok(); }));
  }
  CHECK(handle->result(Millis{10}).error().code == Code::kClosed);
  registration.reset();
  consumer.reset();
  handle.reset();
  must(open_owner(directory).close());  // nothing of the first one holds the directory
}

TEST_CASE("closing lets handlers end and stores what they came to") {
  TemporaryDirectory directory;
  std::optional<JobId> id;
  {
    auto node = open_owner(directory);
    Slot<bool> started;
    Slot<bool> go;
    const auto consumer = must(node.consume("t", [&](RunningJob&) {
      started.change([](bool& value) { value = true; });
      go.wait([](bool value) { return value; });
      return JobOutcome::ok("ended");
    }));
    id = must(node.jobs().add(spec("t"))).id();
    REQUIRE(started.wait([](bool value) { return value; }));
    auto closing = std::async(std::launch::async, [&] { return node.close(kLong); });
    go.change([](bool& value) { value = true; });
    must(closing.get());
  }
  auto node = open_owner(directory);
  const auto info = must(node.jobs().get(*id));
  CHECK(info.state == JobState::kSucceeded);
  CHECK(info.result == Value("ended"));
}

TEST_CASE("a handler that does not end in time is told to stop") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  Slot<bool> started;
  std::atomic<bool> told{false};
  const auto consumer = must(node.consume("t", [&](RunningJob& job) {
    started.change([](bool& value) { value = true; });
    told = eventually([&] { return job.stopping(); });
    return JobOutcome::ok();
  }));
  const auto handle = must(node.jobs().add(spec("t")));
  REQUIRE(started.wait([](bool value) { return value; }));
  must(node.close(Millis{10}));
  CHECK(told);
}

TEST_CASE("a handler that waits for another job does not keep its node from closing") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  const auto other = must(node.jobs().add(spec("nobody")));
  Slot<bool> started;
  Slot<Code> got;
  const auto consumer = must(node.consume("t", [&](RunningJob&) {
    started.change([](bool& value) { value = true; });
    const auto result = other.result();
    got.change([&](Code& code) { code = result.error().code; });
    return JobOutcome::ok();
  }));
  const auto handle = must(node.jobs().add(spec("t")));
  REQUIRE(started.wait([](bool value) { return value; }));
  must(node.close(Millis{10}));
  CHECK(got.get() == Code::kClosed);
}

TEST_CASE("a worker that closes is known as left, and its jobs go to another") {
  TemporaryDirectory directory;
  auto owner = open_owner(directory);
  auto worker = open_worker(owner);
  Slot<bool> started;
  const auto consumer = must(worker.consume("t", [&](RunningJob& job) {
    started.change([](bool& value) { value = true; });
    eventually([&] { return job.stopping(); });
    return JobOutcome::ok("first");
  }));
  const auto handle = must(owner.jobs().add(spec("t")));
  REQUIRE(started.wait([](bool value) { return value; }));
  must(worker.close(Millis{10}));
  CHECK(eventually([&] {
    for (const auto& member : owner.members()) {
      if (member.id == worker.id()) return member.state == "left";
    }
    return false;
  }));
  const auto second =
      must(owner.consume("t", [](RunningJob&) { return JobOutcome::ok("second"); }));
  // Told to stop, the first runner may still end the job within the drain; else the second has it.
  const auto result = must(handle.result(kLong));
  CHECK((result == Value("first") || result == Value("second")));
}

TEST_CASE("a callback cannot close its node, but can end run()") {
  auto node = must(Node::open());
  Slot<Code> refused;
  const auto registration = must(node.on("end", [&](const Event&) {
    const auto closed = node.close();
    refused.change([&](Code& code) { code = closed.error().code; });
    node.stop();
  }));
  must(node.publish("end"));
  must(node.run());
  CHECK(refused.wait([](Code code) { return code == Code::kInvalid; }));
}

TEST_CASE(
    "SIGTERM ends run() where the program has set nothing for it, and its action is put back") {
  const auto action = [] {
    struct sigaction now {};
    ::sigaction(SIGTERM, nullptr, &now);
    return now.sa_handler;
  };
  const auto of_the_tests = ::signal(SIGTERM, SIG_DFL);
  auto node = must(Node::open());
  auto sent = std::async(std::launch::async, [&] {
    const bool taken = eventually([&] { return action() != SIG_DFL; });
    if (taken) ::kill(::getpid(), SIGTERM);
    if (!taken) node.stop();
    return taken;
  });
  must(node.run());
  CHECK(sent.get());
  CHECK(action() == SIG_DFL);
  ::signal(SIGTERM, of_the_tests);
}
