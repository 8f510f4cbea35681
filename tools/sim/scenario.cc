#include "tools/sim/scenario.h"

namespace headrace::sim {
namespace {

constexpr Weather kStorm{Micros{100}, Millis{3}, 0.01, Millis{80}, 0.03};

Scenario steady() {
  Scenario s;
  s.name = "steady";
  s.line = "no faults: every job runs once";
  s.owners_consume = true;
  s.owners = 2;
  s.exact = true;
  return s;
}

Scenario lossy() {
  Scenario s;
  s.name = "lossy";
  s.line = "lanes lose runs of frames, control frames come twice and late";
  s.owners = 2;
  s.owners_consume = true;
  s.weather = {Micros{100}, Millis{5}, 0.03, Millis{150}, 0.05};
  s.large = 0.1;
  s.huge = 0.02;
  return s;
}

Scenario consumer_crash() {
  Scenario s;
  s.name = "consumer-crash";
  s.line = "consumers are killed at any moment and start again";
  s.consumer_kills = 6;
  s.span = std::chrono::seconds{40};
  s.hanging = 0.01;
  return s;
}

Scenario owner_crash() {
  Scenario s;
  s.name = "owner-crash";
  s.line = "owners are killed and start again; their consumers stay: nothing runs twice";
  s.owners = 2;
  s.owner_kills = 5;
  s.os = 0.2;
  s.memory = 0.1;
  s.large = 0.1;
  s.exact = true;
  return s;
}

Scenario power_loss() {
  Scenario s;
  s.name = "power-loss";
  s.line = "machines of owners lose power, disks stall, writes fail";
  s.owners = 2;
  s.owners_consume = true;
  s.power_cuts = 5;
  s.os = 0.3;
  s.memory = 0.1;
  s.large = 0.1;
  s.disk.stall = 0.05;
  s.disk.failure = 0.0005;
  return s;
}

Scenario late_joiner() {
  Scenario s;
  s.name = "late-joiner";
  s.line = "consumers join when there is work already, and get their share of it";
  s.jobs = 250;
  s.late = 3;
  s.slow = 0.2;
  s.exact = true;
  return s;
}

Scenario partition() {
  Scenario s;
  s.name = "partition";
  s.line = "machines cannot reach each other for a while, in one direction or both";
  s.owners = 2;
  s.owners_consume = true;
  s.cuts = 6;
  s.span = std::chrono::seconds{200};
  s.slow = 0.1;
  return s;
}

Scenario stalls() {
  Scenario s;
  s.name = "stalls";
  s.line = "processes stand still for up to a lease and a half, disks stall, handlers hang";
  s.owners = 2;
  s.owners_consume = true;
  s.pauses = 6;
  s.disk.stall = 0.05;
  s.span = std::chrono::seconds{60};
  s.hanging = 0.02;
  return s;
}

Scenario retries() {
  Scenario s;
  s.name = "retries";
  s.line = "handlers fail, fail for good, or say that it can never be";
  s.jobs = 120;
  s.failing = 0.5;
  s.hopeless = 0.15;
  s.cancelled = 0.1;
  s.exact = true;
  return s;
}

Scenario hand_back() {
  Scenario s;
  s.name = "hand-back";
  s.line =
      "consumers stop gracefully in the middle: what has not started goes elsewhere, uncharged";
  s.hand_backs = 3;
  s.slow = 0.2;
  s.exact = true;
  return s;
}

Scenario levels() {
  Scenario s;
  s.name = "levels";
  s.line = "levels and sizes mixed, payloads in pieces";
  s.owners = 2;
  s.owners_consume = true;
  s.os = 0.3;
  s.memory = 0.3;
  s.large = 0.2;
  s.huge = 0.05;
  s.own_ids = 0.5;
  s.exact = true;
  return s;
}

Scenario storeless_producer() {
  Scenario s;
  s.name = "storeless-producer";
  s.line = "nodes without a store add through their owner, which is killed now and then";
  s.owners = 2;
  s.through_owner = true;
  s.owner_kills = 3;
  s.consumer_kills = 2;
  s.huge = 0.02;
  s.weather = {Micros{100}, Millis{2}, 0.005, Millis{50}, 0.02};
  return s;
}

Scenario chaos() {
  Scenario s;
  s.name = "chaos";
  s.line = "everything at once";
  s.nodes = 6;
  s.owners = 3;
  s.owners_consume = true;
  s.through_owner = true;
  s.span = std::chrono::seconds{60};
  s.weather = kStorm;
  s.disk.stall = 0.03;
  s.disk.failure = 0.0003;
  s.os = 0.2;
  s.memory = 0.1;
  s.large = 0.1;
  s.huge = 0.01;
  s.own_ids = 0.5;
  s.failing = 0.2;
  s.hopeless = 0.02;
  s.hanging = 0.01;
  s.late = 1;
  s.consumer_kills = s.owner_kills = s.power_cuts = s.cuts = s.pauses = 3;
  s.hand_backs = 1;
  return s;
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      steady(),    lossy(),  consumer_crash(), owner_crash(), power_loss(), late_joiner(),
      partition(), stalls(), retries(),        hand_back(),   levels(),     storeless_producer(),
      chaos()};
  return all;
}

const Scenario* find_scenario(std::string_view name) {
  for (const auto& scenario : scenarios()) {
    if (scenario.name == name) return &scenario;
  }
  return nullptr;
}

}  // namespace headrace::sim
