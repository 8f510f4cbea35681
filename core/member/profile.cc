#include "core/member/profile.h"

namespace headrace {

Profile Profile::fast() {
  Profile profile;
  profile.probe_interval = Millis{500};
  profile.ack_timeout = Millis{250};
  profile.suspicion_mult = 3;
  profile.refused_suspicion = Millis{500};
  profile.gossip_interval = Millis{100};
  return profile;
}

Profile Profile::wan() {
  Profile profile;
  profile.probe_interval = Millis{5'000};
  profile.ack_timeout = Millis{3'000};
  profile.suspicion_mult = 6;
  profile.refused_suspicion = Millis{5'000};
  profile.gossip_interval = Millis{500};
  profile.gossip_nodes = 4;
  profile.gossip_to_dead = Millis{60'000};
  profile.reply_timeout = Millis{5'000};
  profile.hello_backoff = Millis{2'000};
  profile.hello_backoff_max = Millis{30'000};
  return profile;
}

unsigned retransmit_limit(unsigned mult, std::size_t members) {
  // In integers, so that it is the same on every machine: ceil(log10(members + 1)).
  unsigned digits = 0;
  for (std::size_t reach = 1; reach < members + 1; reach *= 10) ++digits;
  return mult * digits;
}

}  // namespace headrace
