// The classes Event and Published: plain C types, since a pybind11 object would cost more than the
// event that it shows. Ids, node and time become Python objects when somebody asks.
#pragma once

#include <pybind11/pybind11.h>

#include "nodes/node.h"

namespace headrace::python {

namespace py = pybind11;

void bind_event(py::module_& module);
py::object to_event(const Event& event);
py::object to_published(const Published& published);

}  // namespace headrace::python
