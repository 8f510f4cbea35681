// Python objects to the Value model and back. With the GIL. Failures raise headrace.Invalid, naming
// the path (`params.size.x`).
//
//   None, bool, int within 64 bit, float, str, bytes (bytearray, memoryview), list (tuple), dict
//   with str keys, aware datetime, headrace.Ext
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "core/value/params.h"
#include "core/value/value.h"

namespace headrace::python {

namespace py = pybind11;

void bind_convert(py::module_& module);  // the class Ext

// `what` begins the path: "params", "result".
Value to_value(py::handle object, std::string_view what);
ParamSet to_params(py::handle object);  // None: empty
py::object from_value(const Value& value);
py::dict from_params(const ParamSet& params);

// A str as UTF-8, valid as long as the str. `what` names the argument.
std::string_view to_text(py::handle object, std::string_view what);
py::str from_text(std::string_view text);
py::bytes from_bytes(std::string_view bytes);

int to_int(py::handle object, const char* what, int least, int most);

// datetime.h is behind time.cc.
void start_time();
bool is_datetime(py::handle object);
WallTime to_time(py::handle object, const std::string& what);  // naive: Invalid
py::object from_time(WallTime time);                           // aware, UTC
// Seconds or a timedelta; rounded up to a millisecond.
Millis to_millis(py::handle object, const char* what);
std::optional<Millis> to_millis_or_none(py::handle object, const char* what);

// The bytes of any buffer, uncopied for as long as this lives.
class Buffer {
 public:
  explicit Buffer(py::handle object);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::string_view view() const { return view_; }

 private:
  std::string_view view_;
  Py_buffer buffer_{};  // .obj is null if there is nothing to release
};

}  // namespace headrace::python
