#include "nodes/runtime/name.h"

#include <array>

namespace headrace::runtime {

namespace {

constexpr std::array<const char*, 64> kHow{
    "agile",  "amber",  "bold",   "brave",   "bright", "brisk",  "calm",   "candid",
    "clever", "cosy",   "crisp",  "curious", "daring", "deft",   "eager",  "early",
    "fair",   "fleet",  "fond",   "frank",   "gentle", "glad",   "golden", "grand",
    "hardy",  "hasty",  "honest", "humble",  "ideal",  "jolly",  "keen",   "kind",
    "late",   "light",  "lively", "lucky",   "mellow", "merry",  "mild",   "modest",
    "neat",   "nimble", "noble",  "patient", "plain",  "proud",  "quick",  "quiet",
    "rapid",  "ready",  "sharp",  "shy",     "silent", "smooth", "sober",  "steady",
    "sunny",  "swift",  "tidy",   "true",    "vivid",  "warm",   "wise",   "witty"};

constexpr std::array<const char*, 64> kWho{
    "alder",  "aspen",  "badger",  "beaver",  "birch", "bison",  "brook",  "cedar",
    "cliff",  "comet",  "condor",  "crane",   "delta", "dune",   "eagle",  "elk",
    "ember",  "falcon", "fern",    "finch",   "fjord", "fox",    "gecko",  "glade",
    "grove",  "gull",   "harbor",  "hare",    "hawk",  "hazel",  "heron",  "ibis",
    "island", "jay",    "juniper", "kestrel", "lark",  "linden", "lynx",   "maple",
    "marten", "meadow", "mill",    "newt",    "oak",   "ocean",  "osprey", "otter",
    "owl",    "pine",   "plover",  "quail",   "raven", "reef",   "river",  "robin",
    "rowan",  "seal",   "stork",   "swan",    "tern",  "thrush", "willow", "wren"};

}  // namespace

std::string name_of(const NodeId& id) {
  return std::string(kHow[id.high() >> 58]) + "-" + kWho[id.high() >> 52 & 63];
}

}  // namespace headrace::runtime
