// The classes Node, Registration, Consumer and Member.
#pragma once

#include <pybind11/pybind11.h>

namespace headrace::python {

void bind_node(pybind11::module_& module);

}  // namespace headrace::python
