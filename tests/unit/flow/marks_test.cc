#include "core/flow/marks.h"

#include <catch2/catch.hpp>

#include "core/base/limits.h"

using namespace headrace;

TEST_CASE("the low mark is half the window, but covers the slots") {
  CHECK(default_low(64, 4) == 32);
  CHECK(default_low(8, 6) == 6);
  CHECK(default_low(8, 20) == 7);
  CHECK(default_low(2, 1) == 1);
  CHECK(default_low(1, 1) == 0);
  CHECK(make_marks(64, {}, 4) == Marks{64, 32});
}

TEST_CASE("a low mark lies between the slots and the high mark") {
  CHECK(make_marks(8, 4, 4) == Marks{8, 4});
  CHECK(make_marks(8, 7, 4) == Marks{8, 7});
  CHECK(make_marks(4, 3, 100) == Marks{4, 3});
  CHECK(make_marks(1, 0, 1) == Marks{1, 0});
  for (const unsigned low : {3u, 8u}) {
    const auto marks = make_marks(8, low, 4);
    REQUIRE_FALSE(marks);
    CHECK(marks.error().code == Code::kInvalid);
    CHECK(marks.error().message ==
          "lwm is " + std::to_string(low) + ", allowed is 4 to 7 with hwm 8 and parallel 4");
  }
}

TEST_CASE("marks and slots stay within their limits") {
  CHECK(make_marks(limits::kHighWaterMark, {}, limits::kParallel));
  CHECK_FALSE(make_marks(limits::kHighWaterMark + 1, {}, 1));
  CHECK_FALSE(make_marks(0, {}, 1));
  CHECK_FALSE(make_marks(8, {}, 0));
  CHECK_FALSE(make_marks(8, {}, limits::kParallel + 1));
}
