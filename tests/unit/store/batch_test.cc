#include "core/store/batch.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace headrace;

namespace {

std::vector<std::string> operations(const WriteBatch& batch) {
  std::vector<std::string> seen;
  batch.each(
      [&](BytesView key, BytesView value) { seen.push_back(Bytes(key) + "=" + Bytes(value)); },
      [&](BytesView key) { seen.push_back("-" + Bytes(key)); });
  return seen;
}

}  // namespace

TEST_CASE("a batch gives its operations back in the order they were added") {
  WriteBatch batch;
  CHECK(batch.empty());
  batch.put("a", "1");
  batch.erase("b");
  batch.put("a", "2");
  batch.put("", "");
  batch.put("h", "head", "body");
  CHECK(batch.count() == 5);
  CHECK(operations(batch) == std::vector<std::string>{"a=1", "-b", "a=2", "=", "h=headbody"});
}

TEST_CASE("an appended batch follows what was there") {
  WriteBatch first, second;
  first.put("a", "1");
  second.erase("a");
  second.put("b", "2");
  first.append(second);
  CHECK(first.count() == 3);
  CHECK(operations(first) == std::vector<std::string>{"a=1", "-a", "b=2"});
  CHECK(operations(second) == std::vector<std::string>{"-a", "b=2"});
}

TEST_CASE("a cleared batch holds nothing") {
  WriteBatch batch;
  batch.put("a", "1");
  batch.clear();
  CHECK(batch.empty());
  CHECK(batch.bytes() == 0);
  CHECK(operations(batch).empty());
}
