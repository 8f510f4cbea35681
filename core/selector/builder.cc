#include "core/selector/builder.h"

#include <algorithm>
#include <charconv>

#include "core/base/check.h"

namespace headrace::selector {
namespace {

template <typename T>
std::uint16_t last_index(const T& items) {
  return static_cast<std::uint16_t>(items.size() - 1);  // far below: there is a limit on nodes
}

Slot::Field field_named(std::string_view name) {
  if (name == "$topic") return Slot::Field::kTopic;
  if (name == "$node") return Slot::Field::kNode;
  if (name == "$time") return Slot::Field::kTime;
  if (name == "$size") return Slot::Field::kSize;
  if (name == "$id") return Slot::Field::kId;
  return Slot::Field::kParameter;
}

std::vector<Slot::Part> path_of(std::string_view name) {
  std::vector<Slot::Part> path;
  while (true) {
    const auto dot = name.find('.');
    Slot::Part part{std::string(name.substr(0, dot)), {}};
    std::size_t index = 0;
    const auto* end = part.name.data() + part.name.size();
    const auto read = std::from_chars(part.name.data(), end, index);
    if (read.ec == std::errc{} && read.ptr == end) part.index = index;
    path.push_back(std::move(part));
    if (dot == std::string_view::npos) return path;
    name.remove_prefix(dot + 1);
  }
}

Step with_extra(Op op, Ref operand, std::uint16_t extra) {
  Step step;
  step.op = op;
  step.first = operand;
  step.extra = extra;
  return step;
}

}  // namespace

Ref Builder::constant(const Operand& value) {
  program_.constants.push_back(value);
  return {Ref::From::kConstant, last_index(program_.constants)};
}

Ref Builder::text(std::string_view value) {
  return constant(Operand::text(program_.texts.emplace_back(value)));
}

bool Builder::negate_constant(Ref constant) {
  auto& value = program_.constants[constant.index];
  const auto negated = negate(value);
  if (negated.is_null()) return false;
  value = negated;
  return true;
}

std::optional<Ref> Builder::slot(std::string_view name) {
  auto& slots = program_.slots;
  const auto known =
      std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.name == name; });
  if (known != slots.end()) {
    return Ref{Ref::From::kSlot, static_cast<std::uint16_t>(known - slots.begin())};
  }
  if (slots.size() == limits::kSelectorNames) return std::nullopt;
  auto& made = slots.emplace_back();
  made.name = name;
  made.field = field_named(name);
  if (made.field == Slot::Field::kParameter) {
    made.path = path_of(name);
    made.head_size = made.path.front().name.size();
    made.head = name.front();
  }
  return Ref{Ref::From::kSlot, last_index(slots)};
}

Ref Builder::emit(const Step& step) {
  const auto operands = step.op == Op::kAnd || step.op == Op::kOr || step.op == Op::kCompare ||
                                step.op == Op::kCalculate
                            ? 2
                        : step.op == Op::kBetween ? 3
                                                  : 1;
  const Ref refs[] = {step.first, step.second, step.third};
  const auto taken = std::count_if(refs, refs + operands, [](Ref ref) { return ref.on_stack(); });
  depth_ = depth_ - static_cast<std::size_t>(taken) + 1;
  HEADRACE_CHECK(depth_ <= Program::kStack);
  program_.steps.push_back(step);
  return {};
}

Ref Builder::condition(Ref operand) {
  if (operand.on_stack()) return operand;
  Step step;
  step.op = Op::kCondition;
  step.first = operand;
  return emit(step);
}

Ref Builder::negation(Ref operand) {
  condition(operand);
  auto& last = program_.steps.back();  // whose result is the operand
  if (last.op == Op::kBetween || last.op == Op::kIn || last.op == Op::kLike ||
      last.op == Op::kIsNull) {
    last.negated = !last.negated;
    return {};
  }
  Step step;
  step.op = Op::kNot;
  return emit(step);
}

std::size_t Builder::skip(Op op) {
  Step step;
  step.op = op == Op::kAnd ? Op::kSkipIfFalse : Op::kSkipIfTrue;
  program_.steps.push_back(step);
  return program_.steps.size() - 1;
}

Ref Builder::land(std::size_t skip, Op op) {
  Step step;
  step.op = op;
  const auto result = emit(step);
  program_.steps[skip].extra = static_cast<std::uint16_t>(program_.steps.size());
  return result;
}

Step Builder::in_list(Ref operand, std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  program_.lists.push_back(std::move(texts));
  return with_extra(Op::kIn, operand, last_index(program_.lists));
}

Step Builder::like(Ref operand, LikePattern pattern) {
  program_.patterns.push_back(std::move(pattern));
  return with_extra(Op::kLike, operand, last_index(program_.patterns));
}

Program Builder::finish(Ref result) {
  condition(result);
  HEADRACE_CHECK(depth_ == 1);
  return std::move(program_);
}

}  // namespace headrace::selector
