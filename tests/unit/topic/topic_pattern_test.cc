#include "core/topic/topic_pattern.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/base/random.h"

using namespace headrace;
using Form = TopicPattern::Form;

namespace {

bool matches(const char* pattern, const char* topic) {
  return TopicPattern::parse(pattern).value().matches(Topic::parse(topic).value());
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (Words walk(text); walk.more();) words.emplace_back(walk.next());
  return words;
}

// The rules word for word, slowly.
bool obviously_matches(const std::vector<std::string>& pattern,
                       const std::vector<std::string>& topic) {
  if (topic[0] == "$sys" && pattern[0] != "$sys") return false;
  if (pattern == std::vector<std::string>{"*"}) return true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == ">") return topic.size() > i;
    if (i >= topic.size() || (pattern[i] != "*" && pattern[i] != topic[i])) return false;
  }
  return pattern.size() == topic.size();
}

std::string random_words(Random& random, std::initializer_list<const char*> vocabulary) {
  std::string text;
  for (auto n = 1 + random.below(4); n > 0; --n) {
    if (!text.empty()) text += ".";
    text += vocabulary.begin()[random.below(vocabulary.size())];
  }
  return text;
}

}  // namespace

TEST_CASE("a pattern knows its form") {
  CHECK(TopicPattern::parse("a.b")->form() == Form::kTopic);
  CHECK(TopicPattern::parse("*")->form() == Form::kRoot);
  for (const auto* text : {"a.*", "*.a", "a.*.c", "a.>", ">", "*.*", "*.>", "$sys.>"}) {
    CHECK(TopicPattern::parse(text)->form() == Form::kWild);
  }
}

TEST_CASE("a pattern breaks the rules of topics, or has '>' before its end") {
  const auto fault = [](const char* text) { return TopicPattern::parse(text).error().message; };
  CHECK(fault("a.>.b") == "topic pattern 'a.>.b' is invalid: '>' is allowed as the last word only");
  CHECK(fault("") == "topic pattern '' is invalid: it is empty");
  for (const auto* text : {"a.b*", "*a", "a>", ">>", "**", "a..*", "*.", "> ", "a.>.>"}) {
    CAPTURE(text);
    CHECK_FALSE(TopicPattern::parse(text));
  }
}

TEST_CASE("a topic without wildcards matches itself alone") {
  CHECK(matches("a.b", "a.b"));
  CHECK_FALSE(matches("a.b", "a"));
  CHECK_FALSE(matches("a.b", "a.b.c"));
  CHECK_FALSE(matches("a.b", "A.b"));
  CHECK(matches("$sys.a", "$sys.a"));
}

TEST_CASE("a star stands for one word") {
  CHECK(matches("a.*.c", "a.b.c"));
  CHECK(matches("a.*", "a.b"));
  CHECK(matches("*.b", "a.b"));
  CHECK(matches("*.*", "a.b"));
  CHECK_FALSE(matches("a.*.c", "a.c"));
  CHECK_FALSE(matches("a.*.c", "a.b.b.c"));
  CHECK_FALSE(matches("a.*", "a"));
  CHECK_FALSE(matches("*.*", "a"));
}

TEST_CASE("an arrow stands for one word or more at the end") {
  CHECK(matches("a.>", "a.b"));
  CHECK(matches("a.>", "a.b.c.d"));
  CHECK_FALSE(matches("a.>", "a"));
  CHECK_FALSE(matches("a.>", "b.c"));
  CHECK(matches(">", "a"));
  CHECK(matches("*.>", "a.b"));
  CHECK_FALSE(matches("*.>", "a"));
}

TEST_CASE("a star alone is the root and matches every topic") {
  CHECK(matches("*", "a"));
  CHECK(matches("*", "a.b.c"));
}

TEST_CASE("nothing reaches into $sys unless it begins there") {
  for (const auto* pattern : {"*", ">", "*.member", "*.>", "*.*"}) {
    CAPTURE(pattern);
    CHECK_FALSE(matches(pattern, "$sys.member"));
  }
  CHECK(matches("$sys.>", "$sys.member"));
  CHECK(matches("$sys.*", "$sys.member"));
  CHECK_FALSE(matches("$sys.>", "$sys"));
  CHECK(matches("*.$sys", "a.$sys"));
  CHECK(matches("*", "$sysx.a"));
}

TEST_CASE("the matcher agrees with the rules taken word for word") {
  Random random(3);
  int hits = 0;
  for (int i = 0; i < 50000; ++i) {
    const auto text = random_words(random, {"a", "b", "*", "*", ">", "$sys"});
    const auto topic = random_words(random, {"a", "b", "$sys"});
    const auto pattern = TopicPattern::parse(text);
    if (!pattern) continue;
    const auto expected = obviously_matches(split(text), split(topic));
    CAPTURE(text, topic);
    REQUIRE(pattern->matches(topic) == expected);
    hits += expected;
  }
  CHECK(hits > 1000);
}
