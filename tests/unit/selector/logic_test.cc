// Truth tables in full, and what binds closer than what.
#include "tests/unit/selector/support.h"

using namespace headrace;
using namespace headrace::test;

namespace {

constexpr Truth kAll[] = {T, F, U};

// A parameter that is, as a condition, of that truth.
ParamSet params(Truth p, Truth q = U, Truth r = U) {
  ParamSet set;
  const auto add = [&](const char* name, Truth truth) {
    if (truth != U) set.set(name, truth == T);
  };
  add("p", p);
  add("q", q);
  add("r", r);
  return set;
}

}  // namespace

TEST_CASE("AND, OR and NOT follow their three-valued tables") {
  struct Row {
    Truth left, right, both, either;
  };
  const Row rows[] = {{T, T, T, T}, {T, F, F, T}, {T, U, U, T}, {F, T, F, T}, {F, F, F, F},
                      {F, U, F, U}, {U, T, U, T}, {U, F, F, U}, {U, U, U, U}};
  for (const auto& [left, right, both, either] : rows) {
    CAPTURE(left, right);
    CHECK(truth_and(left, right) == both);
    CHECK(truth_or(left, right) == either);
    CHECK(answer("p AND q", params(left, right)) == both);
    CHECK(answer("p OR q", params(left, right)) == either);
    // The same from comparisons, which do not go through the truth of a parameter.
    CHECK(answer("p = TRUE AND q = TRUE", params(left, right)) == both);
    CHECK(answer("p <> FALSE OR q <> FALSE", params(left, right)) == either);
  }
  CHECK(answer("NOT p", params(T)) == F);
  CHECK(answer("NOT p", params(F)) == T);
  CHECK(answer("NOT p", params(U)) == U);
  CHECK(answer("NOT NOT p", params(T)) == T);
  CHECK(answer("NOT NOT p", params(U)) == U);
}

TEST_CASE("a null operand makes a comparison and arithmetic unknown") {
  for (const auto* text : {"n = 1",
                           "n <> 1",
                           "n < 1",
                           "n <= 1",
                           "n > 1",
                           "n >= 1",
                           "1 = n",
                           "n = n",
                           "n <> n",
                           "n = 'x'",
                           "n <> 'x'",
                           "n = TRUE",
                           "n + 1 = 1",
                           "1 - n = 1",
                           "n * 0 = 0",
                           "0 / n = 0",
                           "-n = 0",
                           "+n = 0",
                           "n BETWEEN 1 AND 2",
                           "n IN ('a')",
                           "n LIKE '%'",
                           "n NOT IN ('a')",
                           "n NOT LIKE '%'",
                           "n NOT BETWEEN 1 AND 2",
                           "n",
                           "NOT n"}) {
    CAPTURE(text);
    CHECK(answer(text) == U);
    CHECK(answer(text, {{"n", nullptr}}) == U);
  }
}

TEST_CASE("OR binds less than AND, AND less than NOT, NOT less than comparisons") {
  // Two readings of one text, which some parameters tell apart.
  const auto reads_as = [](const char* text, const char* right, const char* wrong) {
    CAPTURE(text, right, wrong);
    bool told_apart = false;
    for (const auto p : kAll) {
      for (const auto q : kAll) {
        for (const auto r : kAll) {
          const auto set = params(p, q, r);
          CHECK(answer(text, set) == answer(right, set));
          told_apart = told_apart || answer(right, set) != answer(wrong, set);
        }
      }
    }
    CHECK(told_apart);
  };
  reads_as("p OR q AND r", "p OR (q AND r)", "(p OR q) AND r");
  reads_as("p AND q OR r", "(p AND q) OR r", "p AND (q OR r)");
  reads_as("NOT p AND q", "(NOT p) AND q", "NOT (p AND q)");
  reads_as("NOT p OR q", "(NOT p) OR q", "NOT (p OR q)");
  reads_as("NOT p = q", "NOT (p = q)", "p <> TRUE");
  reads_as("p = TRUE OR NOT q = TRUE AND r = TRUE", "p = TRUE OR ((NOT (q = TRUE)) AND (r = TRUE))",
           "(p = TRUE OR NOT q = TRUE) AND r = TRUE");
}

TEST_CASE("arithmetic binds closer than comparisons, products closer than sums, signs closest") {
  for (const auto* text : {"1 + 2 = 3",
                           "3 = 1 + 2",
                           "2 + 3 * 4 = 14",
                           "2 * 3 + 4 = 10",
                           "(2 + 3) * 4 = 20",
                           "20 - 10 - 5 = 5",
                           "20 - (10 - 5) = 15",
                           "100 / 10 / 5 = 2",
                           "100 / (10 / 5) = 50",
                           "100 / 10 * 5 = 50",
                           "2 * 7 / 4 = 3",
                           "2 * (7 / 4) = 2",
                           "-2 * -3 = 6",
                           "- 2 + 3 = 1",
                           "-(2 + 3) = -5",
                           "- - 2 = 2",
                           "--2 = 2",
                           "+-2 = -2",
                           "10 - -2 = 12",
                           "1 - +1 = 0",
                           "2 + 2 BETWEEN 1 + 3 AND 2 * 2",
                           "1 + 1 > 1 AND 1 * 1 < 2"}) {
    CAPTURE(text);
    CHECK(answer(text) == T);
  }
}

TEST_CASE("comparisons go left to right, and their results are booleans") {
  CHECK(answer("1 = 1 = TRUE") == T);
  CHECK(answer("2 = 1 = FALSE") == T);
  CHECK(answer("(a = 1) = (b = 1)", {{"a", 2}, {"b", 3}}) == T);
  CHECK(answer("(a = 1) <> (b = 1)", {{"a", 1}, {"b", 3}}) == T);
  CHECK(answer("(a = 1) = (b = 1)", {{"a", 1}}) == U);
  CHECK(answer("a IS NULL = TRUE") == T);
  CHECK(answer("flag = (a > 1 OR b > 1)", {{"flag", true}, {"a", 1}, {"b", 2}}) == T);
}
