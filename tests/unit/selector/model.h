// Selectors a second time, slowly and plainly: a tree that prints itself, and answers by the rules
// word for word over parameters that were never encoded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/selector/truth.h"
#include "core/value/value.h"

namespace headrace::test {

struct Model;
using ModelPtr = std::shared_ptr<const Model>;

struct Model {
  enum class Kind {
    kLiteral,  // `literal`
    kName,     // `word`: its path
    kNot,
    kAnd,
    kOr,
    kCompare,  // `word`: = <> < <= > >=
    kBetween,
    kIn,    // `texts`
    kLike,  // `word`: the pattern, whose escape is '!'
    kIsNull,
    kSign,       // `word`: + -
    kCalculate,  // `word`: + - * /
  };

  Kind kind = Kind::kLiteral;
  std::vector<ModelPtr> parts;
  Value literal;
  std::string word;
  std::vector<std::string> texts;
  bool negated = false;
  bool wrapped = false;  // in parentheses that nothing asks for
};

std::string print(const Model& model);
Truth answer(const Model& model, const ParamSet& params);

}  // namespace headrace::test
