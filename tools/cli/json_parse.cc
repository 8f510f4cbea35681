// JSON to Value, without the detour over doubles that would round large integers.
#include "core/base/limits.h"
#include "core/base/utf8.h"
#include "tools/cli/json.h"

namespace headrace::cli {
namespace {

// Called by nlohmann's parser for each piece. Returning false ends the parse; error_ says why.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (digits.find_first_of(".eE") == string_t::npos) {
      return stop("the integer " + digits + " does not fit into 64 bits");
    }
    return put(value);
  }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return stop("there is no binary in JSON"); }
  bool start_object(std::size_t) override { return open(ParamSet()); }
  bool key(string_t& name) override {
    open_.back().name = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Value::Array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    std::string_view what = error.what();  // "[json.exception.parse_error.101] parse error ..."
    what.remove_prefix(std::min(what.find(']') + 2, what.size()));
    return stop(std::string(what));
  }

  Result<Value> take() {
    if (!error_.empty()) return fail(Code::kInvalid, error_);
    return std::move(root_);
  }

 private:
  struct Open {
    Value value;       // array or map
    std::string name;  // of the member that comes next
  };

  bool stop(std::string why) {
    error_ = std::move(why);
    return false;
  }
  bool open(Value container) {
    if (open_.size() >= limits::kValueDepth) {
      return stop("more than " + std::to_string(limits::kValueDepth) + " levels in one another");
    }
    open_.push_back({std::move(container), {}});
    return true;
  }
  bool close() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    return put(std::move(done));
  }
  bool put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (auto* array = open_.back().value.get_if<Value::Array>()) {
      array->push_back(std::move(value));
    } else {
      open_.back().value.get_if<ParamSet>()->set(std::move(open_.back().name), std::move(value));
    }
    return true;
  }

  Value root_;
  std::vector<Open> open_;
  std::string error_;
};

}  // namespace

Result<Value> parse_json(std::string_view text) {
  Builder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace headrace::cli
