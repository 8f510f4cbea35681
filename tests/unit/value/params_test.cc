#include "core/value/params.h"

#include <catch2/catch.hpp>

using namespace headrace;

TEST_CASE("a set is written as a list of names and values of any type") {
  const std::string text = "text";
  const ParamSet params{
      {"package", "bash"},
      {"size", 12},
      {"ratio", 0.5},
      {"ok", true},
      {"text", text},
      {"none", nullptr},
      {"maker", {{"name", "GNU"}, {"year", 1989}, {"site", {{"host", "gnu.org"}}}}},
      {"list", Value::Array{1, "two", ParamSet{{"three", 3}}}}};
  CHECK(params.size() == 8);
  CHECK(params.get<std::string>("package") == "bash");
  CHECK(params.get<int>("size") == 12);
  CHECK(params.get<double>("ratio") == 0.5);
  CHECK(params.get<bool>("ok") == true);
  CHECK(params.get<std::string>("text") == text);
  CHECK((*params.find("none"))->is_nil());
  CHECK(params.get<int>("maker.year") == 1989);
  CHECK(params.get<std::string>("maker.site.host") == "gnu.org");
  CHECK(params.get<Value::Array>("list")->at(2) == Value{{"three", 3}});
}

TEST_CASE("setting replaces by name and keeps the order of names") {
  ParamSet params;
  CHECK(params.empty());
  params.set("b", 1).set("a", 2).set("c", 3).set("b", "new").set("", 0);
  std::string names;
  for (const auto& [name, value] : params) names += name + ",";
  CHECK(names == ",a,b,c,");
  CHECK(params.get<std::string>("b") == "new");
  CHECK(params.erase("a"));
  CHECK_FALSE(params.erase("a"));
  CHECK_FALSE(params.contains("a"));
  CHECK(params.size() == 3);
}

TEST_CASE("sets with the same params are equal whatever the order they came in") {
  CHECK(ParamSet{{"a", 1}, {"b", 2}} == ParamSet{{"b", 2}, {"a", 1}});
  CHECK_FALSE(ParamSet{{"a", 1}} == ParamSet{{"a", 2}});
  CHECK_FALSE(ParamSet{{"a", 1}} == ParamSet{{"b", 1}});
}

TEST_CASE("of params with one name the last counts") {
  CHECK(ParamSet{{"a", 1}, {"b", 5}, {"a", 2}, {"a", 3}} == ParamSet{{"a", 3}, {"b", 5}});
}

TEST_CASE("a missing parameter is named with the place where the path ends") {
  const ParamSet params{{"size", {{"x", 1}}}, {"name", "n"}};
  const auto missing = [&](const char* path) {
    const auto found = params.get<int>(path);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == Code::kNotFound);
    return found.error().message;
  };
  CHECK(missing("width") == "parameter 'width' is missing: no name 'width'");
  CHECK(missing("size.y") == "parameter 'size.y' is missing: no name 'y' in 'size'");
  CHECK(missing("name.x") == "parameter 'name.x' is missing: 'name' is text, not map");
  CHECK(missing("") == "parameter '' is missing: no name ''");
  CHECK(missing("size.") == "parameter 'size.' is missing: no name '' in 'size'");
}

TEST_CASE("a parameter of another type is named with its path and the type found") {
  const ParamSet params{{"size", {{"x", "wide"}}}};
  const auto found = params.get<int>("size.x");
  REQUIRE_FALSE(found);
  CHECK(found.error() == Error{Code::kInvalid, "parameter 'size.x': expected int, found text"});
}

TEST_CASE("a name with a dot in it is looked up as it stands, not as a path") {
  const ParamSet params{{"a.b", 1}};
  CHECK(params.contains("a.b"));
  CHECK(params.lookup("a.b")->as_int() == 1);
  CHECK(params.find("a.b").error().code == Code::kNotFound);
}
