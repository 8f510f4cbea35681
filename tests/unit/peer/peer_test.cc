// A whole node as one machine: mail, calls, and the one output rule.
#include "core/base/limits.h"
#include "core/job/info_codec.h"
#include "tests/unit/peer/peer_world.h"

namespace headrace {

using namespace std::chrono_literals;

namespace {

MonoTime in(const PeerWorld& w, Nanos time) { return w.now.mono + time; }

JobId add(PeerWorld& w, TestPeer& at, job::NewJob job = new_job()) {
  const auto call = w.next_call();
  at.peer->add_jobs(w.now, call, {std::move(job)}, in(w, 30s));
  w.until([&] { return at.answers.contains(call); });
  REQUIRE(at.answers.at(call));
  return std::get<Added>(*at.answers.at(call)).ids.front();
}

JobInfo get(PeerWorld& w, TestPeer& at, const JobId& id) {
  const auto call = w.next_call();
  at.peer->get_job(w.now, call, id, in(w, 5s));
  w.until([&] { return at.answers.contains(call); });
  const auto& answer = at.answers.at(call);
  REQUIRE(answer);
  if (const auto* info = std::get_if<JobInfo>(&*answer)) return *info;
  return std::get<std::vector<JobInfo>>(*answer).at(0);
}

std::size_t count(const PeerWorld& w, wire::Kind kind) {
  std::size_t count = 0;
  for (const auto& [to, message] : w.seen) count += kind_of(message) == kind;
  return count;
}

}  // namespace

TEST_CASE("A job added at one node runs at another and has one outcome") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& worker = w.add(2, false);
  worker.peer->add_consumer(w.now, {*TopicPattern::parse("work"), 1, {}});
  w.meet();
  const auto id = add(w, owner);
  REQUIRE(w.until([&] { return worker.started.size() == 1; }));
  CHECK(worker.started[0].job->id == id);
  CHECK(get(w, owner, id).state == JobState::kActive);
  w.finish(worker, 0);
  CHECK(get(w, owner, id).state == JobState::kSucceeded);
  CHECK(get(w, owner, id).consumer == worker.id());
  w.advance(60s);
  CHECK(worker.started.size() == 1);
  CHECK(worker.peer->idle());
  CHECK(owner.peer->bad_frames() + worker.peer->bad_frames() == 0);
  CHECK(owner.peer->unknown_kinds() + worker.peer->unknown_kinds() == 0);
}

TEST_CASE("A node runs its own jobs") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  owner.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.settle();
  const auto id = add(w, owner);
  REQUIRE(w.until([&] { return owner.started.size() == 1; }));
  w.finish(owner, 0);
  CHECK(get(w, owner, id).state == JobState::kSucceeded);
}

TEST_CASE("A handler that runs long is not told to stop while its owner is there") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& worker = w.add(2, false);
  worker.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  const auto id = add(w, owner);
  w.until([&] { return worker.started.size() == 1; });
  w.advance(120s);
  CHECK(worker.stopped.empty());
  CHECK(worker.started.size() == 1);
  CHECK(get(w, owner, id).deliveries == 1);
}

TEST_CASE("A consumer that stops ends what it runs: once, uncharged") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& first = w.add(2, false);
  auto& second = w.add(3, false);
  const auto number = first.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  const auto id = add(w, owner);
  w.until([&] { return first.started.size() == 1; });
  second.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  first.peer->stop_consumer(w.now, number);
  w.advance(60s);
  CHECK(second.started.empty());
  w.finish(first, 0);
  w.advance(1s);
  CHECK(first.peer->idle());
  CHECK(get(w, owner, id).state == JobState::kSucceeded);
  CHECK(get(w, owner, id).deliveries == 1);
}

TEST_CASE("A node that leaves hands back what it still runs: another runs it at once, uncharged") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& first = w.add(2, false);
  first.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  const auto id = add(w, owner);
  w.until([&] { return first.started.size() == 1; });
  first.peer->stop_consuming(w.now);
  auto& second = w.add(3, false);
  second.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  first.peer->leave(w.now);
  w.advance(1s);
  REQUIRE(second.started.size() == 1);
  CHECK(get(w, owner, id).deliveries == 1);  // the second one's
  w.finish(second, 0);
  w.advance(1s);
  CHECK(get(w, owner, id).state == JobState::kSucceeded);
}

TEST_CASE("What a consumer that stops had not started goes to the next one at once") {
  PeerWorld w;
  auto& node = w.add(1, true);
  const auto first = node.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, Marks{4, 2}});
  w.settle();
  for (int i = 0; i < 4; ++i) add(w, node, new_job());
  REQUIRE(node.started.size() == 1);
  w.advance(1s);
  node.peer->stop_consumer(w.now, first);
  w.settle();
  node.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.advance(300ms);
  for (std::size_t i = 1; i < 4; ++i) {
    REQUIRE(node.started.size() > i);
    w.finish(node, i);
    w.advance(300ms);
  }
}

TEST_CASE("Nothing is told before it is on disk") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  owner.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.settle();
  add(w, owner);
  w.until([&] { return owner.started.size() == 1; });
  w.finish(owner, 0);
  owner.disk_stands_still = true;
  const auto call = w.next_call();
  owner.peer->add_jobs(w.now, call, {new_job()}, in(w, 30s));
  w.advance(5s);
  CHECK_FALSE(owner.answers.contains(call));
  CHECK(owner.started.size() == 1);
  owner.disk_stands_still = false;
  w.advance(100ms);
  CHECK(owner.answers.contains(call));
  CHECK(owner.started.size() == 2);
}

// --- Mail that is not ours.

TEST_CASE("Mail for another cluster, node or life is dropped and counted") {
  PeerWorld w;
  auto& one = w.add(1, true);
  auto& two = w.add(2, false);
  w.meet();
  auto head = w.head(two, one);
  wire::JobDone done;
  done.token = {1, 1};
  Bytes message;
  encode(message, done);
  const auto send = [&] {
    const auto before = one.peer->strange_mail();
    const auto sent = w.seen.size();
    w.frame(one, PeerWorld::framed(head, {message}));
    w.settle();
    std::size_t answers = 0;
    for (auto i = sent; i < w.seen.size(); ++i)
      answers += kind_of(w.seen[i].second) == wire::Kind::kJobDoneAck;
    return std::pair(one.peer->strange_mail() - before, answers);
  };
  CHECK(send() == std::pair<std::uint64_t, std::size_t>(0, 1));
  const auto dropped = std::pair<std::uint64_t, std::size_t>(1, 0);
  SECTION("cluster") { head.cluster ^= 1; }
  SECTION("receiver") { head.receiver = NodeId::from_halves(9, 9); }
  SECTION("receiver's life") { head.receiver_incarnation -= 1; }
  SECTION("sender's life") { head.sender_incarnation -= 1; }
  SECTION("a sender that is no member") { head.sender = NodeId::from_halves(9, 9); }
  CHECK(send() == dropped);
}

TEST_CASE("A frame of another version is counted and dropped") {
  PeerWorld w;
  auto& one = w.add(1, true);
  auto& two = w.add(2, false);
  w.meet();
  auto head = w.head(two, one);
  head.version = 2;
  w.frame(one, PeerWorld::framed(head, {Bytes("\x91\x28", 2)}));
  CHECK(one.peer->bad_frames() == 1);
}

TEST_CASE("Kinds that nobody knows are counted and passed over, and what follows them is read") {
  PeerWorld w;
  auto& one = w.add(1, true);
  auto& two = w.add(2, false);
  w.meet();
  wire::JobDone done;
  done.token = {1, 1};
  Bytes message;
  encode(message, done);
  w.seen.clear();
  w.frame(one, PeerWorld::framed(w.head(two, one),
                                 {Bytes("\x92\x3c\x01", 3), Bytes("\x91\xcc\xfa", 3), message}));
  w.settle();
  CHECK(one.peer->unknown_kinds() == 2);
  CHECK(count(w, wire::Kind::kJobDoneAck) == 1);
  CHECK(one.peer->bad_frames() == 0);
}

TEST_CASE("A client cannot speak as a node") {
  PeerWorld w;
  auto& one = w.add(1, true);
  w.settle();
  wire::JobDone done;
  done.token = {1, 1};
  Bytes message;
  encode(message, done);
  CHECK(w.ask(one, message).empty());
  CHECK(one.peer->unknown_kinds() == 1);
}

// --- Calls of the program.

TEST_CASE("A look at a job that never was says so") {
  PeerWorld w;
  auto& one = w.add(1, true);
  w.settle();
  one.peer->get_job(w.now, 1, JobId::from_halves(1, 2), in(w, 5s));
  w.settle();
  CHECK(one.answers.at(1).error().code == Code::kNotFound);
}

TEST_CASE("Waiting for a job ends with it, at once if it has ended, and at the deadline if not") {
  PeerWorld w;
  auto& one = w.add(1, true);
  one.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.settle();
  auto job = new_job();
  job.level = GENERATE(Level::kDisk, Level::kMemory);
  const auto id = add(w, one, job);
  const auto early = w.next_call();
  const auto late = w.next_call();
  const auto after = w.next_call();
  one.peer->wait_job(w.now, early, id, in(w, 2s));
  one.peer->wait_job(w.now, late, id, in(w, 60s));
  w.advance(1900ms);
  CHECK_FALSE(one.answers.contains(early));
  w.advance(200ms);
  CHECK(one.answers.at(early).error().code == Code::kTimeout);
  CHECK_FALSE(one.answers.contains(late));
  w.finish(one, 0);
  REQUIRE(one.answers.contains(late));
  CHECK(std::get<JobInfo>(*one.answers.at(late)).state == JobState::kSucceeded);
  one.peer->wait_job(w.now, after, id, in(w, 60s));
  w.settle();
  CHECK(std::get<JobInfo>(*one.answers.at(after)).state == JobState::kSucceeded);
}

TEST_CASE("A job of level memory that nobody runs yet can be looked at and waited for") {
  PeerWorld w;
  auto& one = w.add(1, true);
  w.settle();
  auto job = new_job();
  job.level = Level::kMemory;
  const auto id = add(w, one, job);
  CHECK(get(w, one, id).state == JobState::kQueued);
  one.peer->wait_job(w.now, 1000, id, in(w, 60s));
  w.advance(1s);
  CHECK_FALSE(one.answers.contains(1000));
  one.peer->find_jobs(w.now, 1001, {}, in(w, 5s));
  w.settle();
  CHECK(std::get<std::vector<JobInfo>>(*one.answers.at(1001)).size() == 1);
}

TEST_CASE("A call that is forgotten is not answered, and leaves nothing that waits") {
  PeerWorld w;
  auto& one = w.add(1, true);
  one.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.settle();
  const auto id = add(w, one);
  one.peer->wait_job(w.now, 1000, id, in(w, 10s));
  w.settle();
  one.peer->forget_call(1000);
  w.finish(one, 0);
  w.advance(20s);
  CHECK_FALSE(one.answers.contains(1000));
}

TEST_CASE("A full disk refuses new jobs and takes them again when there is room") {
  PeerWorld w;
  auto& one = w.add(1, true);
  w.settle();
  one.peer->set_room(false);
  one.peer->add_jobs(w.now, 1, {new_job()}, in(w, 5s));
  w.settle();
  CHECK(one.answers.at(1).error().code == Code::kFull);
  one.peer->set_room(true);
  one.peer->add_jobs(w.now, 2, {new_job()}, in(w, 5s));
  w.settle();
  CHECK(one.answers.at(2));
}

TEST_CASE("When the store fails each call is answered: adds as unknown, with the id to repeat") {
  PeerWorld w;
  auto& one = w.add(1, true);
  w.settle();
  one.disk_stands_still = true;
  one.peer->add_jobs(w.now, 1, {new_job()}, in(w, 30s));
  w.settle();
  one.peer->wait_job(w.now, 2, JobId::from_halves(1, 1), in(w, 30s));
  one.peer->add_jobs(w.now, 3, {new_job()}, in(w, 30s));  // in the turn that never ends
  std::map<CallNumber, Code> codes;
  for (const auto& answer : one.peer->abandon({Code::kStore, "disk broke"})) {
    REQUIRE_FALSE(answer.answer);
    codes[answer.call] = answer.answer.error().code;
  }
  CHECK(codes == std::map<CallNumber, Code>{
                     {1, Code::kOutcomeUnknown}, {2, Code::kStore}, {3, Code::kOutcomeUnknown}});
}

// --- A node without a store.

TEST_CASE("A node without a store and without anybody to ask says so at once") {
  PeerWorld w;
  auto& alone = w.add(1, false);
  w.settle();
  alone.peer->add_jobs(w.now, 1, {new_job()}, in(w, 5s));
  w.settle();
  CHECK(alone.answers.at(1).error().code == Code::kNoStore);
}

TEST_CASE(
    "A node without a store passes adds, looks and waits on to its owner, payloads included") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& bare = w.add(2, false);
  owner.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  auto job = new_job();
  job.payload = Bytes(700'000, 'x');
  const auto id = add(w, bare, job);
  REQUIRE(w.until([&] { return owner.started.size() == 1; }));
  CHECK(owner.started[0].job->payload == job.payload);
  CHECK(get(w, bare, id).state == JobState::kActive);
  bare.peer->find_jobs(w.now, 1000, {.state = JobState::kActive}, in(w, 5s));
  bare.peer->wait_job(w.now, 1001, id, in(w, 60s));
  w.advance(1s);
  CHECK(std::get<std::vector<JobInfo>>(*bare.answers.at(1000)).size() == 1);
  CHECK_FALSE(bare.answers.contains(1001));
  w.finish(owner, 0);
  w.advance(1s);
  REQUIRE(bare.answers.contains(1001));
  CHECK(std::get<std::vector<JobInfo>>(*bare.answers.at(1001)).at(0).state == JobState::kSucceeded);
}

TEST_CASE("A long wait through an owner costs a question a second, however long it is") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& bare = w.add(2, false);
  w.meet();
  const auto id = add(w, bare);
  bare.peer->wait_job(w.now, 1000, id, kNever);
  w.advance(100s);
  const auto before = count(w, wire::Kind::kCallWaitJob);
  const auto replies = count(w, wire::Kind::kReply);
  w.advance(100s);
  CHECK(count(w, wire::Kind::kCallWaitJob) - before <= 101);
  CHECK(count(w, wire::Kind::kReply) - replies <= 10);
  owner.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  REQUIRE(w.until([&] { return owner.started.size() == 1; }));
  w.finish(owner, 0);
  CHECK(bare.answers.contains(1000));
}

TEST_CASE("An add whose answer is lost is repeated, and is one job") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& bare = w.add(2, false);
  w.meet();
  owner.disk_stands_still = true;  // stored, not told
  bare.peer->add_jobs(w.now, 1000, {new_job()}, in(w, 60s));
  w.advance(3500ms);
  CHECK(count(w, wire::Kind::kCallAddJobs) >= 3);
  owner.disk_stands_still = false;
  w.advance(2s);
  REQUIRE(bare.answers.contains(1000));
  REQUIRE(bare.answers.at(1000));
  owner.peer->find_jobs(w.now, 1, {}, in(w, 5s));
  w.settle();
  CHECK(std::get<std::vector<JobInfo>>(*owner.answers.at(1)).size() == 1);
}

TEST_CASE(
    "An add that may be stored at one owner is not given to another; it ends as unknown, by id") {
  PeerWorld w;
  auto& first = w.add(1, true);
  auto& second = w.add(2, true);
  auto& bare = w.add(3, false);
  w.meet();
  first.disk_stands_still = true;
  bare.peer->add_jobs(w.now, 1000, {new_job()}, in(w, 60s));
  w.advance(100ms);
  first.cut = true;  // it is taken for dead soon
  w.advance(62s);
  REQUIRE(bare.answers.contains(1000));
  REQUIRE_FALSE(bare.answers.at(1000));
  CHECK(bare.answers.at(1000).error().code == Code::kOutcomeUnknown);
  second.peer->find_jobs(w.now, 1, {}, in(w, 5s));
  w.settle();
  CHECK(std::get<std::vector<JobInfo>>(*second.answers.at(1)).empty());
}

TEST_CASE("A call that no owner was met for ends at its deadline, as unreachable") {
  PeerWorld w;
  w.add(1, false);
  auto& bare = w.add(2, false, "c9");
  w.meet();
  bare.peer->get_job(w.now, 1, JobId::from_halves(1, 1), in(w, 3s));
  bare.peer->add_jobs(w.now, 2, {new_job()}, in(w, 3s));
  w.advance(2900ms);
  CHECK(bare.answers.empty());
  w.advance(200ms);
  CHECK(bare.answers.at(1).error().code == Code::kUnreachable);
  CHECK(bare.answers.at(2).error().code == Code::kUnreachable);
}

TEST_CASE("An answer to an earlier life of a node is no answer to a call of its next one") {
  PeerWorld w;
  auto& owner = w.add(1, true);
  auto& bare = w.add(2, false);
  w.meet();
  owner.disk_stands_still = true;
  bare.peer->add_jobs(w.now, 1, {new_job()}, in(w, 60s));
  w.advance(100ms);
  PeerConfig config = bare.peer->config();
  config.incarnation += 10;
  bare.peer = std::make_unique<Peer>(config, bare.events);
  REQUIRE(bare.peer->open(w.now, nullptr));
  bare.reached.clear();
  w.advance(500ms);
  bare.cut = true;  // its own calls do not get through
  bare.peer->add_jobs(w.now, 2, {new_job()}, in(w, 60s));
  w.settle();
  bare.cut = false;
  w.seen.clear();
  owner.disk_stands_still = false;
  w.advance(200ms);
  for (const auto& [to, message] : w.seen) {
    const bool reply = to == bare.id() && kind_of(message) == wire::Kind::kReply;
    CHECK_FALSE(reply);
  }
  CHECK_FALSE(bare.answers.contains(2));
}

TEST_CASE("After a worker without a store restarts, nobody keeps telling it what they hold of it") {
  PeerWorld w;
  w.add(1, true);
  auto& worker = w.add(2, false);
  worker.peer->add_consumer(w.now, {*TopicPattern::parse("*"), 1, {}});
  w.meet();
  PeerConfig config = worker.peer->config();
  config.incarnation += 10;
  worker.peer = std::make_unique<Peer>(config, worker.events);
  REQUIRE(worker.peer->open(w.now, nullptr));
  worker.reached.clear();
  w.advance(5s);
  w.seen.clear();
  w.advance(10s);
  CHECK(count(w, wire::Kind::kJobClaims) == 0);
}

}  // namespace headrace
