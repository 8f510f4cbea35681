// The program `headrace`.
#include "tools/bench/bench_command.h"
#include "tools/cli/commands.h"

int main(int argc, char** argv) {
  using namespace headrace::cli;
  return dispatch("", "Events and durable jobs between programs on a LAN, with no broker to run.",
                  {{"node", "run a node until interrupted", run_node},
                   {"pub", "publish an event", run_pub},
                   {"sub", "print events as they come", run_sub},
                   {"members", "list the nodes of the cluster", run_members},
                   {"job", "add durable jobs and look at them", run_job},
                   {"bench", "measure this machine", headrace::bench::run_bench}},
                  {argv + 1, argv + argc});
}
