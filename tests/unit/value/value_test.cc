#include "core/value/value.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace headrace;
using Type = Value::Type;

TEST_CASE("a value takes its type from what it is made of") {
  CHECK(Value().type() == Type::kNil);
  CHECK(Value(nullptr).type() == Type::kNil);
  CHECK(Value(true).type() == Type::kBool);
  CHECK(Value(1).type() == Type::kInt);
  CHECK(Value(1u).type() == Type::kInt);
  CHECK(Value(std::int8_t{-1}).type() == Type::kInt);
  CHECK(Value(std::uint64_t{1} << 63).type() == Type::kUint);
  CHECK(Value(1.5f).type() == Type::kDouble);
  CHECK(Value("text").type() == Type::kText);
  CHECK(Value(std::string("text")).type() == Type::kText);
  CHECK(Value(std::string_view("text")).type() == Type::kText);
  CHECK(Value(Blob{"bytes"}).type() == Type::kBytes);
  CHECK(Value(Value::Array{1, "two"}).type() == Type::kArray);
  CHECK(Value(ParamSet{{"a", 1}}).type() == Type::kMap);
  CHECK(Value{{"a", 1}, {"b", "two"}}.type() == Type::kMap);
  CHECK(Value(WallTime{}).type() == Type::kTime);
  CHECK(Value(Ext{5, "x"}).type() == Type::kExt);
}

TEST_CASE("neither a lone char nor a pointer becomes a value by accident") {
  CHECK_FALSE(std::is_constructible_v<Value, char>);
  CHECK_FALSE(std::is_constructible_v<Value, char32_t>);
  CHECK_FALSE(std::is_constructible_v<Value, int*>);
  CHECK_FALSE(std::is_constructible_v<Value, const void*>);
  CHECK(std::is_constructible_v<Value, const char*>);
}

TEST_CASE(
    "equal numbers are equal whatever integer type they came from, and differ from doubles and "
    "text") {
  CHECK(Value(7) == Value(std::uint64_t{7}));
  CHECK(Value(std::uint64_t(std::numeric_limits<std::int64_t>::max())) ==
        Value(std::numeric_limits<std::int64_t>::max()));
  CHECK_FALSE(Value(std::numeric_limits<std::uint64_t>::max()) == Value(-1));
  CHECK_FALSE(Value(1) == Value(1.0));
  CHECK_FALSE(Value(1) == Value(true));
  CHECK_FALSE(Value("a") == Value(Blob{"a"}));
  CHECK(Value{{"a", Value::Array{1, 2}}} == Value{{"a", Value::Array{1, 2}}});
  CHECK_FALSE(Value{{"a", Value::Array{1, 2}}} == Value{{"a", Value::Array{2, 1}}});
}

TEST_CASE("typed access gives the value or names what was found") {
  CHECK(Value(true).as_bool() == true);
  CHECK(Value(-5).as_int() == -5);
  CHECK(Value(5).as_uint() == 5u);
  CHECK(Value(2.5).as_double() == 2.5);
  CHECK(Value("x").as_text() == "x");
  CHECK(Value(Blob{"x"}).as_bytes() == "x");
  CHECK((*Value(Value::Array{1, 2}).as_array())->size() == 2);
  CHECK((*Value{{"a", 1}}.as_map())->size() == 1);
  CHECK(Value(WallTime{Micros{3}}).as_time() == WallTime{Micros{3}});
  CHECK((*Value(Ext{9, "z"}).as_ext())->type == 9);

  const auto message = [](const auto& result) { return result.error().message; };
  CHECK(message(Value("12").as_int()) == "expected int, found text");
  CHECK(message(Value(12).as_double()) == "expected double, found int");
  CHECK(message(Value(1).as_bool()) == "expected bool, found int");
  CHECK(message(Value(Blob{"x"}).as_text()) == "expected text, found bytes");
  CHECK(message(Value("x").as_bytes()) == "expected bytes, found text");
  CHECK(message(Value().as_map()) == "expected map, found nil");
  CHECK(message(Value(1.0).as_array()) == "expected array, found double");
  CHECK(message(Value(true).as_time()) == "expected timestamp, found bool");
  CHECK(message(Value(WallTime{}).as_ext()) == "expected ext, found timestamp");
  CHECK(Value("12").as_int().error().code == Code::kInvalid);
}

TEST_CASE("an integer is given in any type that holds it and in no other") {
  CHECK(Value(127).as<std::int8_t>() == std::int8_t{127});
  CHECK(Value(128).as<std::int8_t>().error().message ==
        "expected an integer from -128 to 127, found 128");
  CHECK(Value(-1).as<unsigned>().error().message ==
        "expected an integer from 0 to 4294967295, found -1");
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  CHECK(Value(huge).as_uint() == huge);
  CHECK(Value(huge).as_int().error().message.ends_with("found 18446744073709551615"));
  CHECK(Value(-1).as_uint().error().code == Code::kInvalid);
}

TEST_CASE("access by C++ type follows the same rules") {
  CHECK(Value("x").as<std::string>() == "x");
  CHECK(Value("x").as<std::string_view>() == "x");
  CHECK(Value(Blob{"x"}).as<Blob>() == Blob{"x"});
  CHECK(Value(Value::Array{1}).as<Value::Array>() == Value::Array{1});
  CHECK(Value{{"a", 1}}.as<ParamSet>() == ParamSet{{"a", 1}});
  CHECK(Value(1.5).as<double>() == 1.5);
  CHECK(Value(false).as<bool>() == false);
  CHECK(Value(WallTime{}).as<WallTime>() == WallTime{});
  CHECK(Value(Ext{1, "a"}).as<Ext>() == Ext{1, "a"});
  CHECK(Value(3).as<Value>() == Value(3));
  CHECK_FALSE(Value(1).as<std::string>());
  CHECK_FALSE(Value("x").as<Blob>());
}
