// Jobs through whole nodes: added, run, answered, over restarts and through an owner elsewhere.
#include <atomic>
#include <set>

#include "core/base/limits.h"
#include "tests/system/node_support.h"

using namespace headrace;
using namespace headrace::test;

TEST_CASE("a job runs at its owner and its result comes back") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  const auto consumer = must(node.consume("sum", [](RunningJob& job) {
    CHECK(job.topic() == "sum");
    CHECK(job.attempt() == 1);
    CHECK(job.payload() == "bytes");
    return JobOutcome::ok(Value(*job.params().get<int>("a") + *job.params().get<int>("b")));
  }));
  auto job = spec("sum", {{"a", 2}, {"b", 40}});
  job.payload = "bytes";
  const auto handle = must(node.jobs().add(job));
  CHECK(handle.level() == Level::kDisk);
  CHECK(must(handle.result(kLong)) == Value(42));
  const auto info = must(handle.info());
  CHECK(info.state == JobState::kSucceeded);
  CHECK(info.owner == node.id());
  CHECK(info.consumer == node.id());
}

TEST_CASE("a job runs at another node, with the largest of payloads") {
  TemporaryDirectory directory;
  auto owner = open_owner(directory);
  auto worker = open_worker(owner);
  const auto consumer = must(worker.consume("work.>", [](RunningJob& job) {
    return JobOutcome::ok(Value(static_cast<std::int64_t>(job.payload().size())));
  }));
  for (const std::size_t size : {std::size_t{0}, std::size_t{300'000}, limits::kJobPayloadBytes}) {
    auto job = spec("work.size");
    job.payload = Bytes(size, 'p');
    const auto handle = must(owner.jobs().add(std::move(job)));
    CHECK(must(handle.result(kLong)) == Value(static_cast<std::int64_t>(size)));
  }
}

TEST_CASE("a node without a store adds, looks at and waits for jobs through its owner") {
  TemporaryDirectory directory;
  auto owner = open_owner(directory);
  auto worker = open_worker(owner);
  const auto consumer =
      must(owner.consume("t", [](RunningJob&) { return JobOutcome::ok("done"); }));
  const auto handle = must(worker.jobs().add(spec("t"), kLong));
  CHECK(must(handle.result(kLong)) == Value("done"));
  CHECK(must(handle.info(kLong)).owner == owner.id());
  CHECK(must(worker.jobs().find({.topic = "t"}, kLong)).size() == 1);
}

TEST_CASE("a node that has no store and knows no owner says so at once") {
  auto node = must(Node::open());
  CHECK(node.jobs().add(spec("t")).error().code == Code::kNoStore);
}

TEST_CASE("a job whose handler fails is tried again, and its end names state and reason") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  std::atomic<unsigned> runs{0};
  const auto consumer = must(node.consume("t", [&](RunningJob& job) {
    ++runs;
    CHECK(job.attempt() == runs);
    return JobOutcome::fail("not yet", Millis{1});
  }));
  auto job = spec("t");
  job.max_attempts = 3;
  const auto handle = must(node.jobs().add(job));
  const auto result = handle.result(kLong);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Code::kJobFailed);
  CHECK(result.error().message.find("GIVEN_UP") != std::string::npos);
  CHECK(result.error().message.find("not yet") != std::string::npos);
  CHECK(runs == 3);
}

TEST_CASE("waiting for a job that does not end is over in time") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  const auto handle = must(node.jobs().add(spec("nobody.consumes.this")));
  CHECK(handle.result(Millis{50}).error().code == Code::kTimeout);
  CHECK(node.jobs().get(JobId{}).error().code == Code::kNotFound);
}

TEST_CASE("many adds are pipelined, each answered once, each job run once") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  constexpr std::size_t kJobs = 5'000;
  Slot<std::set<std::string>> added;
  Slot<std::multiset<std::int64_t>> ran;
  const auto consumer = must(node.consume("t",
                                          [&](RunningJob& job) {
                                            const auto number =
                                                job.params().get<std::int64_t>("n").value();
                                            ran.change([&](auto& all) { all.insert(number); });
                                            return JobOutcome::ok();
                                          },
                                          {.parallel = 4}));
  for (std::size_t i = 0; i < kJobs; ++i) {
    must(node.jobs().add_async(spec("t", {{"n", static_cast<std::int64_t>(i)}}),
                               [&](Result<JobHandle> handle) {
                                 const auto id = must(std::move(handle)).id();
                                 added.change([&](auto& all) { all.insert(id.hex()); });
                               }));
  }
  CHECK(added.wait([](const auto& all) { return all.size() == kJobs; }));
  CHECK(ran.wait([](const auto& all) { return all.size() >= kJobs; }));
  const auto all = ran.get();
  CHECK(all.size() == kJobs);
  CHECK(std::set<std::int64_t>(all.begin(), all.end()).size() == kJobs);
}

TEST_CASE("many jobs are added all or none") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  const auto handles = must(node.jobs().add_many({spec("a"), spec("b"), spec("c")}));
  CHECK(handles.size() == 3);
  CHECK(node.jobs().add_many({spec("d"), spec("not a topic")}).error().code == Code::kInvalid);
  CHECK(must(node.jobs().find({})).size() == 3);
  CHECK(must(node.jobs().add_many({})).empty());
}

TEST_CASE("adding a job again under its id is the same job") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  auto job = spec("t");
  job.id = JobId::from_halves(7, 7);
  CHECK(must(node.jobs().add(job)).id() == *job.id);
  CHECK(must(node.jobs().add(job)).id() == *job.id);
  CHECK(must(node.jobs().find({})).size() == 1);
}

TEST_CASE("what is wrong with a job is said before anything is stored") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  auto priority = spec("t");
  priority.priority = 10;
  CHECK(node.jobs().add(priority).error().message.find("10") != std::string::npos);
  auto payload = spec("t");
  payload.payload = Bytes(limits::kJobPayloadBytes + 1, 'x');
  CHECK(node.jobs().add(payload).error().code == Code::kInvalid);
  CHECK(node.jobs().add(spec("bad topic")).error().code == Code::kInvalid);
  CHECK(must(node.jobs().find({})).empty());
}

TEST_CASE("jobs outlive their owner's restart and are run after it") {
  TemporaryDirectory directory;
  std::vector<JobId> ids;
  {
    auto node = open_owner(directory);
    for (int i = 0; i < 20; ++i) ids.push_back(must(node.jobs().add(spec("t"))).id());
  }
  auto node = open_owner(directory);
  std::atomic<int> runs{0};
  const auto consumer = must(node.consume("t", [&](RunningJob& job) {
    ++runs;
    return JobOutcome::ok(job.id().hex());
  }));
  for (const auto& id : ids) {
    CHECK(eventually([&] {
      const auto info = must(node.jobs().get(id));
      return info.state == JobState::kSucceeded && info.result == Value(id.hex());
    }));
  }
  CHECK(runs == 20);
}

TEST_CASE("a consumer that is stopped takes no more, and what runs there is answered") {
  TemporaryDirectory directory;
  auto node = open_owner(directory);
  Slot<int> running;
  Slot<bool> go;
  auto consumer = must(node.consume("t", [&](RunningJob&) {
    running.change([](int& count) { ++count; });
    go.wait([](bool value) { return value; });
    return JobOutcome::ok();
  }));
  const auto first = must(node.jobs().add(spec("t")));
  REQUIRE(running.wait([](int count) { return count == 1; }));
  const auto second = must(node.jobs().add(spec("t")));
  consumer.stop();
  go.change([](bool& value) { value = true; });
  must(first.result(kLong));
  CHECK(second.result(Millis{100}).error().code == Code::kTimeout);
  CHECK(running.get() == 1);
  const auto another = must(node.consume("t", [](RunningJob&) { return JobOutcome::ok(); }));
  must(second.result(kLong));
}
