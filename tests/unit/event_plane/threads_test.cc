// Two planes with real threads: publishers, a loop for each node, workers.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/wire/frame.h"
#include "nodes/runtime/clock.h"
#include "nodes/runtime/event_plane.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

// A node without sockets: what a loop would get from the network stands in its inbox.
class TestNode {
 public:
  explicit TestNode(std::uint64_t number) : id(NodeId::from_halves(7, number)) {
    EventPlaneHooks hooks;
    hooks.mono = mono_now;
    hooks.wall = wall_now;
    hooks.wake = [this] { post([] {}); };
    hooks.schedule = [this](RegistrationId registration) {
      const std::lock_guard lock(mutex_);
      runnable_.push_back(registration);
      changed_.notify_all();
    };
    hooks.note = [](const std::string&) {};
    hooks.send_control = [this](const NodeId&, Bytes message) {
      other->post([this, message = std::move(message)] {
        other->plane->receive(headrace::runtime::now(), id, 1, message, nullptr);
      });
    };
    hooks.registrations_changed = [this](Bytes advert) {
      other->post([this, advert = std::move(advert)] { other->plane->set_member(id, 1, advert); });
    };
    plane = std::make_unique<EventPlane>(EventPlaneConfig{id, 1, 99}, std::move(hooks));
  }

  void start() {
    threads_.emplace_back([this] { loop(); });
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { work(); });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    for (auto& thread : threads_) thread.join();
  }
  void post(std::function<void()> input) {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(input));
    changed_.notify_all();
  }

  const NodeId id;
  TestNode* other = nullptr;
  std::unique_ptr<EventPlane> plane;

 private:
  void loop() {
    for (;;) {
      std::deque<std::function<void()>> inputs;
      const bool may_sleep = plane->before_sleep();
      {
        std::unique_lock lock(mutex_);
        const auto due = [this] { return stopped_ || !inbox_.empty(); };
        if (may_sleep) changed_.wait_for(lock, Millis{5}, due);
        if (stopped_) return;
        inputs.swap(inbox_);
      }
      plane->after_sleep();
      for (const auto& input : inputs) input();
      if (mono_now() >= plane->next_timer()) plane->tick(mono_now());
      plane->flush([this](const NodeId&, Bytes& frame) {
        other->post([this, held = std::make_shared<const Bytes>(std::move(frame))] {
          wire::FrameReader reader(*held);
          while (const auto message = reader.next()) {
            other->plane->receive(headrace::runtime::now(), id, 1, *message, held);
          }
        });
        return true;
      });
    }
  }
  void work() {
    for (;;) {
      RegistrationId next = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopped_ || !runnable_.empty(); });
        if (stopped_) return;
        next = runnable_.front();
        runnable_.pop_front();
      }
      plane->run(next);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> inbox_;
  std::deque<RegistrationId> runnable_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

struct Pair {
  Pair() {
    a.other = &b;
    b.other = &a;
    a.start();
    b.start();
  }
  ~Pair() {
    a.stop();
    b.stop();
  }
  TestNode a{1}, b{2};
};

template <typename Condition>
void eventually(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("threads that publish at once lose nothing, and each sees its own order kept") {
  Pair nodes;
  constexpr std::uint64_t kEach = 20'000;
  std::vector<std::string> last(2);
  std::atomic<std::uint64_t> count{0}, local{0}, disorder{0};
  std::uint64_t last_seq = 0;
  REQUIRE(nodes.b.plane->add_registration("a", false, [&](const Event& event) {
    if (event.seq <= last_seq) ++disorder;
    last_seq = event.seq;
    ++count;
  }));
  REQUIRE(nodes.a.plane->add_registration("a", false, [&](const Event&) { ++local; }));
  eventually([&] { return nodes.a.plane->match_count("a") == 2; });
  std::atomic<std::uint64_t> dropped{0};
  std::vector<std::thread> publishers;
  for (int i = 0; i < 2; ++i) {
    publishers.emplace_back([&] {
      const Bytes payload(300, 'x');
      for (std::uint64_t n = 0; n < kEach; ++n) {
        const auto published = nodes.a.plane->publish("a", {}, payload, Millis{30'000});
        if (!published || published->dropped > 0) ++dropped;
      }
    });
  }
  for (auto& publisher : publishers) publisher.join();
  // A node that stands still for 50 ms, as on a busy machine, is not waited for: that is counted.
  const auto sent = [&] {
    const auto stats = nodes.b.plane->stats();
    return count + stats.queue_dropped >= 2 * kEach - dropped;
  };
  eventually(sent);
  CHECK(disorder == 0);
  CHECK(count + nodes.a.plane->stats().sent_dropped + nodes.b.plane->stats().queue_dropped >=
        2 * kEach);
  CHECK(local > 0);
}

TEST_CASE("callbacks that remove each other's registrations do not wait for each other for ever") {
  for (int round = 0; round < 20; ++round) {
    Pair nodes;
    std::array<std::atomic<RegistrationId>, 2> ids{};
    std::atomic<int> entered{0}, removed{0}, left{0};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto id = nodes.b.plane->add_registration("a", false, [&, i](const Event&) {
        ++entered;
        // Both run, each on a worker. The test's own thread finds out if they do not.
        const auto give_up = mono_now() + std::chrono::seconds(60);
        while (entered < 2 && mono_now() < give_up) std::this_thread::yield();
        if (nodes.b.plane->remove_registration(ids[1 - i])) ++removed;
        ++left;
      });
      REQUIRE(id);
      ids[i] = *id;
    }
    eventually([&] { return nodes.a.plane->match_count("a") == 1; });
    const auto published = nodes.a.plane->publish("a", {}, "x", Millis{30'000});
    REQUIRE((published && published->dropped == 0));
    eventually([&] { return left == 2; });
    CHECK(removed == 2);
  }
}

TEST_CASE("no callback of a registration starts once it is removed, whichever thread removes it") {
  Pair nodes;
  std::atomic<bool> stop{false};
  std::thread publisher([&] {
    while (!stop) (void)nodes.a.plane->try_publish("a", {}, "x");
  });
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> removed{false};
    std::atomic<int> calls{0}, late{0};
    const auto id = nodes.b.plane->add_registration("a", false, [&](const Event&) {
      if (removed) ++late;
      ++calls;
    });
    REQUIRE(id);
    eventually([&] { return calls > 3; });
    CHECK(nodes.b.plane->remove_registration(*id));
    removed = true;
    CHECK(late == 0);
  }
  stop = true;
  publisher.join();
}
