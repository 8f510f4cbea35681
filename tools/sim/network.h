// Network: what lies between the machines. A lane keeps the order of its frames, as a connection
// does, and loses a run of them where a connection would be made anew; frames of two lanes overtake
// each other. Control frames may come twice.
//
// Owned by a World; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "core/base/random.h"
#include "core/wire/frame.h"
#include "tools/sim/events.h"

namespace headrace::sim {

using MachineNumber = unsigned;

struct Weather {
  Nanos delay{Micros{50}};
  Nanos jitter{Micros{200}};   // upon the delay
  double loss = 0;             // chance of a frame to begin a run of losses
  Nanos loss_run{Millis{20}};  // the longest
  double duplicate = 0;        // of a control frame
};

class Network final {
 public:
  using Deliver =
      std::function<void(MachineNumber to, wire::Lane lane, const std::shared_ptr<const Bytes>&)>;

  Network(EventQueue& events, Random& random, Deliver deliver)
      : events_(events), random_(random), deliver_(std::move(deliver)) {}

  void set_weather(const Weather& weather) { weather_ = weather; }
  void send(MachineNumber from, MachineNumber to, wire::Lane lane, Bytes frame);
  // One direction; what is on its way is lost as well.
  void cut(MachineNumber from, MachineNumber to) { cuts_.emplace(from, to); }
  void heal(MachineNumber from, MachineNumber to) { cuts_.erase({from, to}); }
  void heal_all() { cuts_.clear(); }
  bool reaches(MachineNumber from, MachineNumber to) const { return !cuts_.contains({from, to}); }

  std::uint64_t frames() const { return frames_; }
  std::uint64_t lost() const { return lost_; }

 private:
  struct Way {
    MonoTime last{};  // when the frame before arrives
    MonoTime lost_until{};
  };
  void carry(MonoTime when, MachineNumber from, MachineNumber to, wire::Lane lane,
             std::shared_ptr<const Bytes> frame);
  Nanos delay() { return weather_.delay + Nanos{random_.between(0, weather_.jitter.count())}; }

  EventQueue& events_;
  Random& random_;
  Deliver deliver_;
  Weather weather_;
  std::map<std::tuple<MachineNumber, MachineNumber, wire::Lane>, Way> ways_;
  std::set<std::pair<MachineNumber, MachineNumber>> cuts_;
  std::uint64_t frames_ = 0, lost_ = 0;
};

}  // namespace headrace::sim
