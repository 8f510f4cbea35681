#include "tools/sim/members/scenario.h"

#include "tools/sim/members/plays.h"

namespace headrace::sim {

using std::chrono::seconds;

const std::vector<MemberScenario>& member_scenarios() {
  static const std::vector<MemberScenario> all = {
      {"idle", "nothing happens for 300 s: nobody is suspected, and it costs little", play_idle,
       seconds{300}},
      {"one-crash", "one member is gone at once: how soon all know", play_one_crash, seconds{40}},
      {"mass-crash", "a tenth of the members (a hundredth of over 3,000) at once", play_mass_crash,
       seconds{60}},
      {"stalled-members", "1 % get and send nothing for 15 of every 20 s", play_stalled,
       seconds{130}},
      {"many-stalled", "the same with 5 %", play_many_stalled, seconds{130}},
      {"loss-1", "1 % of all messages are lost, for 300 s", play_loss_1, seconds{310}},
      {"loss-5", "the same with 5 %", play_loss_5, seconds{310}},
      {"loss-10", "the same with 10 %", play_loss_10, seconds{310}},
      {"split-1s", "the halves do not reach each other for 1 s", play_short_split_1, seconds{75}},
      {"split-5s", "the same for 5 s", play_short_split_5, seconds{80}},
      {"split-half", "the same for 60 s, then the views must merge", play_split_half, seconds{150}},
      {"split-tenth", "a tenth is apart for 60 s", play_split_tenth, seconds{150}},
      {"split-one", "one member is apart for 60 s", play_split_one, seconds{150}},
      {"cut-pair", "two members do not reach each other: nobody dies", play_cut_pair,
       seconds{1'110}},
      {"cut-star", "one does not reach a tenth of the others: nobody dies", play_cut_star,
       seconds{1'110}},
      {"one-way", "1 % hear nothing for 20 of every 40 s, but are heard", play_one_way,
       seconds{340}},
      {"join", "all join through three seeds within 10 s", play_join, seconds{50}},
      {"rolling-restart", "five a second start again, until all have", play_rolling_restart,
       seconds{250}},
      {"mass-leave", "half of them leave within 10 s", play_mass_leave, seconds{90}},
  };
  return all;
}

const MemberScenario* find_member_scenario(std::string_view name) {
  for (const auto& scenario : member_scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

Profile without_lifeguard(Profile profile) {
  profile.health_max = 0;
  profile.suspicion_max_mult = 1;
  return profile;
}

}  // namespace headrace::sim
