// Event planes joined by a network that the test drives: nothing moves but by pump() and run(), and
// time stands still but for pass().
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/wire/frame.h"
#include "nodes/runtime/event_plane.h"

namespace headrace::runtime {

class World {
 public:
  struct Station {
    NodeId id;
    Incarnation life = 1;
    std::unique_ptr<EventPlane> plane;
    std::vector<RegistrationId> runnable;
    std::deque<std::pair<NodeId, Bytes>> control;  // to send
    std::vector<std::string> notes;
    Bytes advert;
    bool advertised = true;
    bool accepts = true;  // its sockets take frames
  };

  explicit World(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) start(i);
  }

  EventPlane& operator[](std::size_t i) { return *stations[i]->plane; }

  MonoTime now() const { return now_; }
  void advance(Millis time) { now_ = now() + time; }

  // Whatever is under way arrives, and all that follows from it; no callback runs.
  void pump() {
    for (bool busy = true; busy;) {
      busy = false;
      for (auto& from : stations) busy |= flush(*from);
    }
  }
  // All callbacks that wait run, on this thread.
  void run() {
    for (auto& station : stations) {
      while (!station->runnable.empty()) {
        for (const auto id : std::exchange(station->runnable, {})) station->plane->run(id);
      }
    }
  }
  void settle() {
    for (int i = 0; i < 50; ++i) {
      pump();
      run();
      pump();
      if (quiet()) return;
    }
  }
  void pass(Millis time) {
    for (const auto end = now() + time; now() < end;) {
      advance(Millis{5});
      for (auto& station : stations) {
        if (now() >= station->plane->next_timer()) station->plane->tick(now());
      }
    }
  }
  // Like pass(), with everything moving meanwhile.
  void live(Millis time) {
    for (const auto end = now() + time; now() < end;) {
      pass(Millis{5});
      settle();
    }
  }
  // A node's process ends and another takes its identity.
  void restart(std::size_t i) {
    const auto life = stations[i]->life + 1;
    for (std::size_t j = 0; j < stations.size(); ++j) {
      if (j != i) stations[j]->plane->remove_member(stations[i]->id);
    }
    start(i, life);
    for (auto& station : stations) station->advertised = false;
    pump();
  }

  std::vector<std::unique_ptr<Station>> stations;
  WallTime wall{std::chrono::hours{1'000'000}};
  // May lose a data frame, or keep it.
  std::function<bool(std::size_t to, const Bytes& frame)> lose = [](auto, auto&) { return false; };
  std::vector<std::size_t> frozen;  // take nothing from the network

 private:
  std::atomic<MonoTime> now_{
      MonoTime{std::chrono::hours{1}}};  // publishers of some tests are threads

  void start(std::size_t i, Incarnation life = 1) {
    if (stations.size() <= i) stations.push_back(nullptr);
    stations[i] = std::make_unique<Station>();
    Station& station = *stations[i];
    station.id = NodeId::from_halves(7, i + 1);
    station.life = life;
    EventPlaneHooks hooks;
    hooks.mono = [this] { return now(); };
    hooks.wall = [this] { return wall; };
    hooks.wake = [] {};
    hooks.schedule = [&station](RegistrationId id) { station.runnable.push_back(id); };
    hooks.note = [&station](std::string text) { station.notes.push_back(std::move(text)); };
    hooks.send_control = [&station](const NodeId& to, Bytes message) {
      station.control.emplace_back(to, std::move(message));
    };
    hooks.registrations_changed = [&station](Bytes advert) {
      station.advert = std::move(advert);
      station.advertised = false;
    };
    station.plane =
        std::make_unique<EventPlane>(EventPlaneConfig{station.id, life, 99}, std::move(hooks));
  }

  std::size_t index(const NodeId& id) const { return static_cast<std::size_t>(id.low() - 1); }
  bool is_frozen(std::size_t i) const {
    return std::find(frozen.begin(), frozen.end(), i) != frozen.end();
  }
  bool quiet() {
    for (auto& station : stations) {
      if (!station->runnable.empty()) return false;
    }
    return true;
  }

  bool flush(Station& from) {
    const auto me = index(from.id);
    if (is_frozen(me)) return false;
    bool busy = false;
    from.plane->flush([&](const NodeId& to, Bytes& frame) {
      if (!from.accepts) return false;
      busy = true;
      if (is_frozen(index(to)) || lose(index(to), frame)) return true;
      deliver(from, index(to), std::move(frame));
      return true;
    });
    for (; !from.control.empty(); from.control.pop_front()) {
      const auto& [to, message] = from.control.front();
      if (is_frozen(index(to))) continue;
      busy = true;
      stations[index(to)]->plane->receive({now(), wall}, from.id, from.life, message, nullptr);
    }
    if (!std::exchange(from.advertised, true)) {
      busy = true;
      for (std::size_t i = 0; i < stations.size(); ++i) {
        if (i != me) stations[i]->plane->set_member(from.id, from.life, from.advert);
      }
    }
    return busy;
  }
  void deliver(const Station& from, std::size_t to, Bytes bytes) {
    const auto frame = std::make_shared<const Bytes>(std::move(bytes));
    wire::FrameReader reader(*frame);
    if (reader.head().receiver_incarnation != stations[to]->life) return;
    while (const auto message = reader.next()) {
      stations[to]->plane->receive({now(), wall}, from.id, from.life, *message, frame);
    }
  }
};

// What a registration was given: payloads in order.
using Seen = std::vector<std::string>;
inline EventPlane::Callback into(Seen& seen) {
  return [&seen](const Event& event) { seen.emplace_back(event.payload); };
}

inline constexpr Millis kPatience{60'000};
inline constexpr Millis kNone{0};

}  // namespace headrace::runtime
