#include "core/value/params.h"

#include <algorithm>
#include <iterator>

#include "core/base/utf8.h"

namespace headrace {
namespace {

template <typename Params>
auto lower_bound(Params& params, std::string_view name) {
  return std::lower_bound(
      params.begin(), params.end(), name,
      [](const Param& param, std::string_view wanted) { return param.name < wanted; });
}

// Sorts by name and keeps the last of each.
std::vector<Param> in_order(std::vector<Param> params) {
  const auto before = [](const Param& a, const Param& b) { return a.name < b.name; };
  const auto same = [](const Param& a, const Param& b) { return a.name == b.name; };
  std::stable_sort(params.begin(), params.end(), before);
  // From the back, so that of equals the last one stays.
  const auto kept = std::unique(params.rbegin(), params.rend(), same);
  params.erase(params.begin(), kept.base());
  return params;
}

}  // namespace

ParamSet::ParamSet() noexcept = default;
ParamSet::ParamSet(std::initializer_list<Param> params) : ParamSet(std::vector<Param>(params)) {}
ParamSet::ParamSet(std::vector<Param> params) : params_(in_order(std::move(params))) {}
ParamSet::ParamSet(const ParamSet&) = default;
ParamSet::ParamSet(ParamSet&&) noexcept = default;
ParamSet& ParamSet::operator=(const ParamSet&) = default;
ParamSet& ParamSet::operator=(ParamSet&&) noexcept = default;
ParamSet::~ParamSet() = default;

ParamSet& ParamSet::set(std::string name, Value value) {
  if (params_.empty() || params_.back().name < name) {
    params_.push_back(Param{std::move(name), std::move(value)});
    return *this;
  }
  const auto at = lower_bound(params_, name);
  if (at->name == name) {
    at->value = std::move(value);
  } else {
    params_.insert(at, Param{std::move(name), std::move(value)});
  }
  return *this;
}

bool ParamSet::erase(std::string_view name) {
  const auto at = lower_bound(params_, name);
  if (at == params_.end() || at->name != name) return false;
  params_.erase(at);
  return true;
}

const Value* ParamSet::lookup(std::string_view name) const {
  const auto at = lower_bound(params_, name);
  return at == params_.end() || at->name != name ? nullptr : &at->value;
}

Result<const Value*> ParamSet::find(std::string_view path) const {
  const ParamSet* map = this;
  std::size_t begin = 0;
  while (true) {
    const auto dot = path.find('.', begin);
    const auto* value = map->lookup(path.substr(begin, dot - begin));
    if (value == nullptr) {
      const auto where = begin == 0 ? "" : " in " + shown(path.substr(0, begin - 1));
      return fail(Code::kNotFound, "parameter " + shown(path) + " is missing: no name " +
                                       shown(path.substr(begin, dot - begin)) + where);
    }
    if (dot == std::string_view::npos) return value;
    const auto inner = value->as_map();
    if (!inner) {
      return fail(Code::kNotFound, "parameter " + shown(path) +
                                       " is missing: " + shown(path.substr(0, dot)) + " is " +
                                       std::string(value->type_name()) + ", not map");
    }
    map = *inner;
    begin = dot + 1;
  }
}

std::size_t ParamSet::size() const { return params_.size(); }
bool ParamSet::empty() const { return params_.empty(); }
ParamSet::const_iterator ParamSet::begin() const { return params_.begin(); }
ParamSet::const_iterator ParamSet::end() const { return params_.end(); }

bool operator==(const ParamSet& a, const ParamSet& b) { return a.params_ == b.params_; }

}  // namespace headrace
