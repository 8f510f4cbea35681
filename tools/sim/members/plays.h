// What happens in each member scenario. Each forms its world, runs it and gives the figures.
#pragma once

#include "tools/sim/members/figure.h"
#include "tools/sim/members/world.h"

namespace headrace::sim {

// plays_faults.cc
MemberFigures play_idle(MemberWorld& world);
MemberFigures play_one_crash(MemberWorld& world);
MemberFigures play_mass_crash(MemberWorld& world);
MemberFigures play_stalled(MemberWorld& world);
MemberFigures play_many_stalled(MemberWorld& world);

// plays_links.cc
MemberFigures play_loss_1(MemberWorld& world);
MemberFigures play_loss_5(MemberWorld& world);
MemberFigures play_loss_10(MemberWorld& world);
MemberFigures play_short_split_1(MemberWorld& world);
MemberFigures play_short_split_5(MemberWorld& world);
MemberFigures play_split_half(MemberWorld& world);
MemberFigures play_split_tenth(MemberWorld& world);
MemberFigures play_split_one(MemberWorld& world);
MemberFigures play_cut_pair(MemberWorld& world);
MemberFigures play_cut_star(MemberWorld& world);
MemberFigures play_one_way(MemberWorld& world);

// plays_churn.cc
MemberFigures play_join(MemberWorld& world);
MemberFigures play_rolling_restart(MemberWorld& world);
MemberFigures play_mass_leave(MemberWorld& world);

}  // namespace headrace::sim
