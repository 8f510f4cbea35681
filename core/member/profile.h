// Timing of the membership protocol, as plain numbers: `lan` by default, `fast` for a quiet LAN
// where a death must be known soon, `wan` for links with long delays. Pure formulas over the size
// of the cluster beside it.
#pragma once

#include <cstddef>

#include "core/base/time.h"

namespace headrace {

struct Profile {
  Millis probe_interval{1000};  // one member is probed in each
  Millis ack_timeout{500};      // then others are asked to try
  unsigned indirect_probes = 3;
  unsigned health_max = 7;  // both times above are stretched by up to this + 1

  unsigned suspicion_mult = 4;      // least suspicion: mult * max(1, log10 N) * probe_interval
  unsigned suspicion_max_mult = 6;  // longest: this times the least
  // One that was declared dead and came back in the same life, as over a link that works by fits
  // and starts, gets twice the suspicion the next time, up to eight times, until it was not
  // suspected for so long.
  std::chrono::minutes flap_memory{5};
  Millis refused_suspicion{1000};  // when the member's address refuses connections

  Millis gossip_interval{200};
  unsigned gossip_nodes = 3;
  Millis gossip_delay{5};  // the first message waits for what comes with it
  unsigned retransmit_mult = 4;
  Millis gossip_to_dead{30'000};  // so that one falsely declared dead hears of it

  Millis sync_interval{10'000};
  Millis reply_timeout{1'000};  // hello, sync, advert
  unsigned concurrent_syncs = 4;
  unsigned concurrent_adverts = 16;

  Millis hello_backoff{250};  // to seeds: doubles with jitter up to the next
  Millis hello_backoff_max{5'000};
  Millis reconnect_interval{10'000};  // to dead members

  std::chrono::hours dead_kept{24};  // dead or left, with a store
  std::chrono::minutes dead_kept_storeless{1};

  static Profile lan() { return {}; }
  static Profile fast();
  static Profile wan();
};

// How often one update is sent before it is dropped: mult * ceil(log10(members + 1)).
unsigned retransmit_limit(unsigned mult, std::size_t members);

}  // namespace headrace
