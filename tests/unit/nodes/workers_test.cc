#include "nodes/runtime/workers.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "nodes/runtime/consumer_entry.h"
#include "nodes/runtime/done_queue.h"
#include "nodes/runtime/slots.h"
#include "tests/unit/nodes/support.h"

using namespace headrace;
using namespace headrace::runtime;
using headrace::test::Slot;

TEST_CASE("tasks of one worker run in the order in which they came") {
  Workers workers(1);
  const auto thread = workers.reserve(1);
  REQUIRE(thread);
  Slot<std::vector<int>> ran;
  std::vector<Workers::Task> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back([&ran, i] { ran.change([i](auto& all) { all.push_back(i); }); });
  }
  workers.push(tasks);
  CHECK(tasks.empty());
  REQUIRE(ran.wait([](const auto& all) { return all.size() == 100; }));
  const auto all = ran.get();
  CHECK(std::is_sorted(all.begin(), all.end()));
}

TEST_CASE("as many tasks run at once as there are workers, also such as came later") {
  Workers workers(1);
  const auto two = workers.reserve(2), one = workers.reserve(1);
  REQUIRE((two && one));
  Slot<int> running;
  for (int i = 0; i < 3; ++i) {
    workers.push([&] {
      running.change([](int& count) { ++count; });
      running.wait([](int count) { return count >= 3; });
    });
  }
  CHECK(running.wait([](int count) { return count == 3; }));
}

TEST_CASE("a reservation that was given back serves the next one, one that is held does not") {
  Workers workers(1);
  auto first = workers.reserve(1);
  REQUIRE(first);
  Slot<bool> go;
  Slot<int> ran;
  const auto count = [&] { ran.change([](int& value) { ++value; }); };
  // The first holder still runs when it asks for nothing more: the second must not wait for it.
  workers.push([&] { go.wait([](bool value) { return value; }); });
  const auto second = workers.reserve(1);
  workers.push(count);
  REQUIRE(ran.wait([](int value) { return value == 1; }));
  first->reset();
  const auto third = workers.reserve(1);
  workers.push(count);
  CHECK(ran.wait([](int value) { return value == 2; }));
  go.change([](bool& value) { value = true; });
  workers.close();
}

TEST_CASE("what waits in a slot behind a long run can be taken back, and then does not begin") {
  Workers workers(1);
  const auto thread = workers.reserve(1);
  REQUIRE(thread);
  Slot<std::vector<job::RunId>> begun, ended;
  Slot<bool> go;
  auto slots = std::make_shared<Slots>(
      workers,
      [&](JobEnded end, bool) { ended.change([&](auto& all) { all.push_back(end.run); }); }, 1);
  const auto entry = std::make_shared<const ConsumerEntry>(
      ConsumerEntry{1, {TopicPattern::parse("t").value(), 1, {}}, [&](RunningJob&) {
                      begun.change([](auto& all) { all.push_back(1); });
                      go.wait([](bool value) { return value; });
                      return JobOutcome::ok();
                    }});
  std::vector<std::shared_ptr<RunningJobState>> runs;
  for (job::RunId run = 1; run <= 3; ++run) {
    runs.push_back(std::make_shared<RunningJobState>());
    runs.back()->consumer = entry;
    runs.back()->job = std::make_shared<const job::HeldJob>();
    runs.back()->run = run;
  }
  slots->add(runs);
  REQUIRE(begun.wait([](const auto& all) { return all.size() == 1; }));
  const auto back = slots->withdraw();
  REQUIRE(back.size() == 2);
  CHECK(back[0]->run == 2);
  CHECK(back[1]->run == 3);
  go.change([](bool& value) { value = true; });
  REQUIRE(ended.wait([](const auto& all) { return all.size() == 1; }));
  workers.close();
  CHECK(begun.get().size() == 1);
}

TEST_CASE("workers have names, are known as such, and let no signal in") {
  Workers workers(7);
  const auto thread = workers.reserve(1);
  REQUIRE(thread);
  Slot<std::string> name;
  std::atomic<bool> known{false};
  std::atomic<bool> blocked{false};
  workers.push([&] {
    std::array<char, 16> text{};
    pthread_getname_np(pthread_self(), text.data(), text.size());
    known = workers.on_worker();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0;
    name.change([&](auto& value) { value = text.data(); });
  });
  REQUIRE(name.wait([](const auto& value) { return !value.empty(); }));
  CHECK(name.get() == "hr-work-7");
  CHECK(known);
  CHECK(blocked);
  CHECK_FALSE(workers.on_worker());
}

TEST_CASE("closing waits for what runs and drops what has not started") {
  Workers workers(1);
  const auto thread = workers.reserve(1);
  REQUIRE(thread);
  Slot<bool> started;
  Slot<bool> go;
  std::atomic<int> ran{0};
  workers.push([&] {
    started.change([](bool& value) { value = true; });
    go.wait([](bool value) { return value; });
    ++ran;
  });
  REQUIRE(started.wait([](bool value) { return value; }));
  workers.push([&] { ran += 10; });
  std::thread closer([&] { workers.close(); });
  go.change([](bool& value) { value = true; });
  closer.join();
  CHECK((ran == 1 || ran == 11));
  workers.push([&] { ran += 100; });
  workers.close();
  CHECK(ran < 100);
}

TEST_CASE("what a handler returns or throws is the end of its run") {
  const auto run = [](Handler handler) {
    RunningJobState state;
    state.consumer = std::make_shared<const ConsumerEntry>(
        ConsumerEntry{1, {TopicPattern::parse("t").value(), 1, {}}, std::move(handler)});
    auto job = std::make_shared<job::HeldJob>();
    job->topic = "t";
    state.job = std::move(job);
    return run_handler(state);
  };
  CHECK(run([](RunningJob&) { return JobOutcome::ok(); }).kind == JobEnd::Kind::kOk);
  const auto threw = run([](RunningJob&) -> JobOutcome { throw std::runtime_error("no luck"); });
  CHECK(threw.kind == JobEnd::Kind::kFail);
  CHECK(threw.error == "the handler threw: no luck");
  const auto odd = run([](RunningJob&) -> JobOutcome { throw 7; });
  CHECK(odd.kind == JobEnd::Kind::kFail);
  const auto wrong = run([](RunningJob&) { return JobOutcome::cancel("never"); });
  CHECK(wrong.kind == JobEnd::Kind::kCancel);
  CHECK(wrong.error == "never");
}

TEST_CASE("a job whose parameters cannot be read is cancelled when its handler asks for them") {
  RunningJobState state;
  state.consumer = std::make_shared<const ConsumerEntry>(
      ConsumerEntry{1, {TopicPattern::parse("t").value(), 1, {}}, [](RunningJob& job) {
                      CHECK(job.params().empty());
                      return JobOutcome::ok();
                    }});
  auto job = std::make_shared<job::HeldJob>();
  job->params = "\xc1";
  state.job = std::move(job);
  CHECK(run_handler(state).kind == JobEnd::Kind::kCancel);
}

TEST_CASE("a result that is too large to keep ends its job") {
  const auto end = JobOutcome::ok(Value(Blob{Bytes(limits::kResultBytes + 1, 'x')})).end();
  CHECK(end.kind == JobEnd::Kind::kCancel);
  CHECK(JobOutcome::ok(Value(Blob{Bytes(limits::kResultBytes - 5, 'x')})).end().kind ==
        JobEnd::Kind::kOk);
}

TEST_CASE("answers reach user code one at a time, in order, and give their places back") {
  Workers workers(1);
  const auto threads = workers.reserve(2);
  REQUIRE(threads);
  Places places(100, 1'000);
  Slot<std::vector<std::string>> notes;
  DoneQueue done(workers, places, [&](const std::string& text) {
    notes.change([&](auto& all) { all.push_back(text); });
  });
  std::vector<int> ran;  // by one worker at a time
  for (int round = 0; round < 10; ++round) {
    std::vector<Done> batch;
    for (int i = 0; i < 10; ++i) {
      REQUIRE(places.take(10, kNever));
      batch.push_back({[&ran, number = round * 10 + i](const Result<Answer>&) {
                         ran.push_back(number);
                         if (number == 50) throw std::runtime_error("oops");
                       },
                       fail(Code::kClosed, "x"), 10});
    }
    done.push(batch);
  }
  done.wait_idle();
  CHECK(ran.size() == 100);
  CHECK(std::is_sorted(ran.begin(), ran.end()));
  CHECK(notes.get() == std::vector<std::string>{"a callback of add_async threw: oops"});
  CHECK(places.take(1'000, MonoTime{}));
}
