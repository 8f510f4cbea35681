// headrace.Error with a subclass for each code, and the way from a Result to a value or to one.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "bindings/python/interpreter.h"
#include "core/base/error.h"

namespace headrace::python {

namespace py = pybind11;

void bind_errors(py::module_& module);

py::object to_exception(const Error& error);
[[noreturn]] void raise(const Error& error);
[[noreturn]] void raise_invalid(const std::string& message);
[[noreturn]] void raise_forked();

template <typename T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// The result of `call`, which may wait and so runs without the GIL. Ctrl-C ends it.
template <typename Call>
auto waiting(Call&& call) {
  auto result = [&] {
    const GilRelease release;
    return call();
  }();
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return take(std::move(result));
}

}  // namespace headrace::python
