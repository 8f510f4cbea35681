#include "tests/unit/selector/model.h"

#include <cmath>
#include <functional>

namespace headrace::test {
namespace {

using Kind = Model::Kind;

// ---- printing ----

// The levels of the grammar: what stands in a place of level n needs parentheses if its own is
// lower.
int level(const Model& model) {
  switch (model.kind) {
    case Kind::kOr: return 1;
    case Kind::kAnd: return 2;
    case Kind::kNot: return 3;
    case Kind::kCompare:
    case Kind::kBetween:
    case Kind::kIn:
    case Kind::kLike:
    case Kind::kIsNull: return 4;
    case Kind::kCalculate: return model.word == "+" || model.word == "-" ? 5 : 6;
    case Kind::kSign: return 7;
    default: return 8;
  }
}

std::string quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string print_literal(const Value& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (const auto* text = value.get_if<std::string>()) return quote(*text);
  if (const auto* number = value.get_if<std::int64_t>()) return std::to_string(*number);
  if (const auto* number = value.get_if<std::uint64_t>()) return std::to_string(*number);
  char digits[400];  // enough for those of the tests
  std::snprintf(digits, sizeof digits, "%.20f", *value.get_if<double>());
  std::string all = digits;
  while (all.back() == '0') all.pop_back();
  return all;
}

std::string print_at(int place, const Model& model) {
  const auto text = print(model);
  return level(model) < place || model.wrapped ? "(" + text + ")" : text;
}

}  // namespace

std::string print(const Model& model) {
  const auto part = [&](std::size_t i, int place) { return print_at(place, *model.parts[i]); };
  const int own = level(model);
  const std::string negated = model.negated ? " NOT" : "";
  switch (model.kind) {
    case Kind::kLiteral: return print_literal(model.literal);
    case Kind::kName: return model.word;
    case Kind::kNot: return "NOT " + part(0, own);
    case Kind::kAnd: return part(0, own) + " AND " + part(1, own + 1);
    case Kind::kOr: return part(0, own) + " OR " + part(1, own + 1);
    case Kind::kSign: return model.word + part(0, own);
    case Kind::kCompare:
    case Kind::kCalculate: return part(0, own) + model.word + part(1, own + 1);
    case Kind::kBetween:
      return part(0, 5) + negated + " BETWEEN " + part(1, 5) + " AND " + part(2, 5);
    case Kind::kIn: {
      std::string list;
      for (const auto& text : model.texts) list += (list.empty() ? "" : ",") + quote(text);
      return part(0, 5) + negated + " IN (" + list + ")";
    }
    case Kind::kLike: return part(0, 5) + negated + " LIKE " + quote(model.word) + " ESCAPE '!'";
    case Kind::kIsNull: return part(0, 5) + " IS" + negated + " NULL";
  }
  return {};
}

// ---- answering ----

namespace {

__extension__ using Wide = __int128;

Truth invert(Truth truth) {
  if (truth == Truth::kUnknown) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

Truth both(Truth a, Truth b) {
  if (a == Truth::kFalse || b == Truth::kFalse) return Truth::kFalse;
  if (a == Truth::kTrue && b == Truth::kTrue) return Truth::kTrue;
  return Truth::kUnknown;
}

bool is_exact(const Value& value) {
  return value.type() == Value::Type::kInt || value.type() == Value::Type::kUint;
}
bool is_number(const Value& value) {
  return is_exact(value) || value.type() == Value::Type::kDouble;
}

// Its 64 bits of fraction hold every number exactly.
long double number(const Value& value) {
  if (const auto* exact = value.get_if<std::int64_t>()) return static_cast<long double>(*exact);
  if (const auto* exact = value.get_if<std::uint64_t>()) return static_cast<long double>(*exact);
  return static_cast<long double>(*value.get_if<double>());
}

Value exact(Wide value) {
  if (value > Wide{UINT64_MAX} || value < Wide{INT64_MIN}) return {};
  if (value > 0) return static_cast<std::uint64_t>(value);
  return static_cast<std::int64_t>(value);
}

Wide wide(const Value& value) {
  if (const auto* small = value.get_if<std::int64_t>()) return *small;
  return *value.get_if<std::uint64_t>();
}

Value calculate(const std::string& how, const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) return {};
  if (how == "/" && number(b) == 0) return {};
  if (is_exact(a) && is_exact(b)) {
    if (how == "+") return exact(wide(a) + wide(b));
    if (how == "-") return exact(wide(a) - wide(b));
    if (how == "/") return exact(wide(a) / wide(b));
    if (std::fabs(number(a) * number(b)) > 1e20L) return {};
    return exact(wide(a) * wide(b));
  }
  const auto left = static_cast<double>(number(a));
  const auto right = static_cast<double>(number(b));
  const double result = how == "+"   ? left + right
                        : how == "-" ? left - right
                        : how == "*" ? left * right
                                     : left / right;
  return std::isfinite(result) ? Value(result) : Value();
}

Value negative(const Value& value) {
  if (is_exact(value)) return exact(-wide(value));
  if (const auto* approximate = value.get_if<double>()) return -*approximate;
  return {};
}

Truth compare(const std::string& how, const Value& a, const Value& b) {
  if (a.is_nil() || b.is_nil()) return Truth::kUnknown;
  if (is_number(a) && is_number(b)) {
    const auto left = number(a);
    const auto right = number(b);
    return to_truth(how == "="    ? left == right
                    : how == "<>" ? left != right
                    : how == "<"  ? left < right
                    : how == "<=" ? left <= right
                    : how == ">"  ? left > right
                                  : left >= right);
  }
  const bool comparable = a.type() == Value::Type::kText || a.type() == Value::Type::kBool;
  if (a.type() != b.type() || !comparable) return Truth::kFalse;
  return to_truth((how == "=" && a == b) || (how == "<>" && !(a == b)));
}

// By trying everything; ASCII.
bool like(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  const auto rest = pattern.substr(1);
  if (pattern[0] == '%')
    return like(text, rest) || (!text.empty() && like(text.substr(1), pattern));
  if (text.empty()) return false;
  if (pattern[0] == '!') return text[0] == rest[0] && like(text.substr(1), rest.substr(1));
  return (pattern[0] == '_' || pattern[0] == text[0]) && like(text.substr(1), rest);
}

// A param, or an element of an array, by path; nil if there is none.
Value look_up(const Value& value, std::string_view path) {
  if (path.empty()) return value;
  const auto dot = path.find('.');
  const std::string name(path.substr(0, dot));
  const auto rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  if (const auto* map = value.get_if<ParamSet>()) {
    return map->contains(name) ? look_up(*map->lookup(name), rest) : Value();
  }
  const auto* array = value.get_if<Value::Array>();
  if (array == nullptr || name.find_first_not_of("0123456789") != std::string::npos) return {};
  const auto index = std::stoul(name);
  return index < array->size() ? look_up((*array)[index], rest) : Value();
}

Value evaluate(const Model& model, const ParamSet& params);

Truth condition(const Model& model, const ParamSet& params) {
  const auto value = evaluate(model, params);
  if (value.is_nil()) return Truth::kUnknown;
  return to_truth(value == Value(true));
}

Value value_of(Truth truth) { return truth == Truth::kUnknown ? Value() : truth == Truth::kTrue; }

Truth predicate(const Model& model, const Value& value, const std::function<Value(int)>& part) {
  if (model.kind == Kind::kIsNull) return to_truth(value.is_nil());
  if (model.kind == Kind::kBetween) {
    return both(compare(">=", value, part(1)), compare("<=", value, part(2)));
  }
  if (value.is_nil()) return Truth::kUnknown;
  const auto* text = value.get_if<std::string>();
  if (text == nullptr) return Truth::kFalse;
  if (model.kind == Kind::kLike) return to_truth(like(*text, model.word));
  bool found = false;
  for (const auto& listed : model.texts) found = found || listed == *text;
  return to_truth(found);
}

Value evaluate(const Model& model, const ParamSet& params) {
  const auto part = [&](int i) {
    return evaluate(*model.parts[static_cast<std::size_t>(i)], params);
  };
  const auto side = [&](std::size_t i) { return condition(*model.parts[i], params); };
  switch (model.kind) {
    case Kind::kLiteral: return model.literal;
    case Kind::kName: return look_up(params, model.word);
    case Kind::kNot: return value_of(invert(side(0)));
    case Kind::kAnd: return value_of(both(side(0), side(1)));
    case Kind::kOr: return value_of(invert(both(invert(side(0)), invert(side(1)))));
    case Kind::kCompare: return value_of(compare(model.word, part(0), part(1)));
    case Kind::kCalculate: return calculate(model.word, part(0), part(1));
    case Kind::kSign:
      if (model.word == "-") return negative(part(0));
      return is_number(part(0)) ? part(0) : Value();
    default: {
      const auto truth = predicate(model, part(0), part);
      return value_of(model.negated ? invert(truth) : truth);
    }
  }
}

}  // namespace

Truth answer(const Model& model, const ParamSet& params) { return condition(model, params); }

}  // namespace headrace::test
