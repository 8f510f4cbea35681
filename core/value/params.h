// ParamSet: the parameters of an event or a job, and every map inside a Value. Names are text, each
// stands once, and iteration goes by name in byte order, so equal sets encode to equal bytes.
//
//   ParamSet params{{"package", "bash"}, {"size", 12}, {"maker", {{"name", "GNU"}}}};
//   auto size = params.get<int>("size");             // Result<int>
//   auto maker = params.get<std::string>("maker.name");
//
// A value type: copy, move, compare; not thread-safe while it changes. Limits (names, elements,
// depth, bytes, UTF-8) are checked when it is encoded (value_codec.h), not here.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace headrace {

class Value;
struct Param;  // { std::string name; Value value; }, defined in value.h

class ParamSet final {
 public:
  using const_iterator = std::vector<Param>::const_iterator;

  ParamSet() noexcept;
  // Of several params with one name the last counts, as if set() were called for each in turn.
  ParamSet(std::initializer_list<Param> params);
  explicit ParamSet(std::vector<Param> params);
  ParamSet(const ParamSet&);
  ParamSet(ParamSet&&) noexcept;
  ParamSet& operator=(const ParamSet&);
  ParamSet& operator=(ParamSet&&) noexcept;
  ~ParamSet();

  // Adds or replaces. Cheapest in order of name; build many in another order through the vector
  // constructor.
  ParamSet& set(std::string name, Value value);
  bool erase(std::string_view name);

  // The param of exactly that name (dots are ordinary here), or null. Valid until the set changes.
  const Value* lookup(std::string_view name) const;
  bool contains(std::string_view name) const { return lookup(name) != nullptr; }

  // `path` is names joined by dots, through nested maps. kNotFound names the path and where it
  // ends.
  Result<const Value*> find(std::string_view path) const;
  // The value there as a T (see Value::as). kNotFound, or kInvalid naming the path and the type
  // found.
  template <typename T>
  Result<T> get(std::string_view path) const;

  std::size_t size() const;
  bool empty() const;
  const_iterator begin() const;
  const_iterator end() const;

  friend bool operator==(const ParamSet&, const ParamSet&);

 private:
  std::vector<Param> params_;  // by name, each once
};

}  // namespace headrace

#include "core/value/value.h"  // completes Value and Param, and defines get()
