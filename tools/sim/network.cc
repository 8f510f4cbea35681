#include "tools/sim/network.h"

namespace headrace::sim {

void Network::send(MachineNumber from, MachineNumber to, wire::Lane lane, Bytes bytes) {
  ++frames_;
  Way& way = ways_[{from, to, lane}];
  if (weather_.loss > 0 && random_.chance(weather_.loss)) {
    way.lost_until = events_.now() + Nanos{random_.between(0, weather_.loss_run.count())};
  }
  if (!reaches(from, to) || events_.now() < way.lost_until) {
    ++lost_;
    return;
  }
  const auto frame = std::make_shared<const Bytes>(std::move(bytes));
  const auto when = std::max<MonoTime>(events_.now() + delay(), way.last + Nanos{1});
  way.last = when;
  carry(when, from, to, lane, frame);
  if (lane == wire::Lane::kControl && weather_.duplicate > 0 &&
      random_.chance(weather_.duplicate)) {
    carry(when + Nanos{random_.between(0, 100 * weather_.jitter.count())}, from, to, lane, frame);
  }
}

void Network::carry(MonoTime when, MachineNumber from, MachineNumber to, wire::Lane lane,
                    std::shared_ptr<const Bytes> frame) {
  events_.at(when, [this, from, to, lane, frame = std::move(frame)] {
    if (!reaches(from, to)) {
      ++lost_;
      return;
    }
    deliver_(to, lane, frame);
  });
}

}  // namespace headrace::sim
