// Lifeguard's local health: how far this node should mistrust itself. 0 is well; each failed probe,
// missed nack or accusation of ourselves adds one, each answered probe takes one. It stretches
// probe interval and timeout, because a slow detector is the usual cause of a false suspicion.
#pragma once

#include <algorithm>

#include "core/base/time.h"

namespace headrace {

class LocalHealth final {
 public:
  explicit LocalHealth(unsigned max) : max_(max) {}

  void worse(unsigned by) { score_ = std::min(max_, score_ + by); }
  void better() { score_ -= score_ > 0 ? 1 : 0; }
  unsigned score() const { return score_; }
  Nanos stretch(Nanos time) const { return time * (score_ + 1); }

 private:
  unsigned max_;
  unsigned score_ = 0;
};

}  // namespace headrace
