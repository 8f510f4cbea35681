#define CATCH_CONFIG_RUNNER
#include <stdlib.h>

#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  // Nodes of one test find none of another's. Who tests the beacon asks for a port of its own.
  ::setenv("HEADRACE_BEACON", "off", 1);
  return Catch::Session().run(argc, argv);
}
